"""Models of two shards, from a hub that breaks off, lies, or sends one elsewhere; and what the disk must hold."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from fake_hub import FIRST, REVISION, SECOND, SHARDS, FakeHub, hub_source, sha256
from fake_sources import Settings, Told, fetch
from samequantity.errors import IntegrityError, ModelError
from samequantity.models.fetching.files import fetch_models
from samequantity.models.pinning.pins import ModelPin

MEGABYTES = 2**20
BIG = {FIRST: b"first" * 1000, SECOND: bytes(range(256)) * (25 * MEGABYTES // 256)}


@pytest.mark.parametrize("resets", [False, True])
def test_a_connection_that_breaks_at_40_percent_of_a_shard_goes_on_from_there(
    settings: Settings, hub_here: FakeHub, told: Told, *, resets: bool
) -> None:
    hub_here.commits = {REVISION: BIG}
    hub_here.breaks = {SECOND: [10 * MEGABYTES]}
    hub_here.resets = resets

    receipt = fetch(settings.write_shards(BIG, revision=REVISION), settings.folder, reporter=told)

    assert [(FIRST, None), (SECOND, None), (SECOND, f"bytes={10 * MEGABYTES}-")] == hub_here.requests
    assert {name: len(content) for name, content in BIG.items()} == hub_here.sent
    assert [sha256(content) for content in BIG.values()] == [file.sha256 for file in receipt.files]
    assert sorted(BIG) == sorted(entry.name for entry in settings.folder.iterdir())
    assert 25 * MEGABYTES == max(told.positions)


def test_a_download_that_brings_nothing_new_ends_and_the_next_fetch_goes_on(
    settings: Settings, hub_here: FakeHub, told: Told
) -> None:
    hub_here.commits = {REVISION: BIG}
    hub_here.breaks = {SECOND: [10 * MEGABYTES, 0]}
    hub_here.resets = True
    pin = settings.write_shards(BIG, revision=REVISION)

    with pytest.raises(ModelError, match=rf"{SECOND}: no source (.|\n)* broke off after 10\.49 MB"):
        fetch(pin, settings.folder, reporter=told)
    assert f"{SECOND}.part" in [entry.name for entry in settings.folder.iterdir()]
    fetch(pin, settings.folder, reporter=told)

    assert f"bytes={10 * MEGABYTES}-" == hub_here.ranges[-1]
    assert len(BIG[SECOND]) == hub_here.sent[SECOND]
    assert sorted(BIG) == sorted(entry.name for entry in settings.folder.iterdir())


def test_the_beginning_of_a_download_that_another_source_ended_is_not_kept(
    settings: Settings, hub_here: FakeHub, told: Told, tmp_path: Path
) -> None:
    hub_here.commits = {REVISION: BIG}
    hub_here.breaks = {SECOND: [10 * MEGABYTES, 0]}
    hub_here.resets = True
    copy = tmp_path / "copy.gguf"
    with pytest.raises(ModelError):
        fetch(settings.write_shards({SECOND: BIG[SECOND]}, revision=REVISION), settings.folder, reporter=told)

    copy.write_bytes(BIG[SECOND])
    fetch(settings.write(BIG[SECOND], {"path": str(copy)}, name=SECOND), settings.folder, reporter=told)

    assert [SECOND] == [entry.name for entry in settings.folder.iterdir()]


def test_the_beginning_of_another_commits_file_gives_way(settings: Settings, hub_here: FakeHub, told: Told) -> None:
    hub_here.commits = {REVISION: BIG, "f" * 40: BIG}
    hub_here.breaks = {SECOND: [10 * MEGABYTES, 0, 0]}
    hub_here.resets = True
    for revision in (REVISION, "f" * 40):
        with pytest.raises(ModelError, match="broke off"):
            fetch(settings.write_shards({SECOND: BIG[SECOND]}, revision=revision), settings.folder, reporter=told)

    assert [0] == [entry.stat().st_size for entry in settings.folder.glob("*.part/hub-*")]


def test_a_shard_of_the_right_size_and_other_bytes_is_refused_by_name_and_the_good_one_stays(
    settings: Settings, hub_here: FakeHub, pinned_shards: ModelPin, told: Told
) -> None:
    hub_here.commits[REVISION][SECOND] = wrong = b"SECOND" * 1000
    hub_here.announced = {SECOND: sha256(SHARDS[SECOND])}

    with pytest.raises(IntegrityError) as error:
        fetch(pinned_shards, settings.folder, reporter=told)

    assert str(error.value).startswith(
        f"{SECOND}: what the model hub (somebody/tiny at {REVISION[:12]}) has is SHA-256"
    )
    assert sha256(wrong) in str(error.value)
    assert f"wanted {sha256(SHARDS[SECOND])}" in str(error.value)
    assert FIRST not in str(error.value)
    assert [FIRST] == [entry.name for entry in settings.folder.iterdir()]


def test_a_shard_that_the_hub_itself_calls_another_is_refused_by_name_before_a_byte_of_it(
    settings: Settings, hub_here: FakeHub, pinned_shards: ModelPin, told: Told
) -> None:
    hub_here.announced = {SECOND: "ab" * 32}

    with pytest.raises(IntegrityError, match=rf"^{SECOND}: .* offers {SECOND} with SHA-256 {'ab' * 32}"):
        fetch(pinned_shards, settings.folder, reporter=told)

    assert [(FIRST, None)] == hub_here.requests
    assert [FIRST] == [entry.name for entry in settings.folder.iterdir()]


def test_a_shard_that_is_not_pinned_must_be_what_the_hub_calls_it(
    settings: Settings, hub_here: FakeHub, told: Told
) -> None:
    hub_here.commits = {REVISION: dict(SHARDS)}
    hub_here.announced = {SECOND: "ab" * 32}

    with pytest.raises(IntegrityError, match=rf"^{SECOND}: .* calls {SECOND} SHA-256 {'ab' * 32}, and what"):
        fetch(settings.write_shards(dict.fromkeys(SHARDS)), settings.folder, reporter=told)

    assert [FIRST, f"{FIRST}.sha256"] == sorted(entry.name for entry in settings.folder.iterdir())


@pytest.mark.parametrize("pinned", [True, False])
def test_room_for_all_shards_is_asked_for_before_the_first_byte(
    settings: Settings, hub_here: FakeHub, told: Told, monkeypatch: pytest.MonkeyPatch, *, pinned: bool
) -> None:
    hub_here.commits = {REVISION: BIG}
    pin = settings.write_shards(BIG if pinned else dict.fromkeys(BIG))
    # Each shard alone would fit.
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=64 * MEGABYTES + len(BIG[SECOND])))

    with pytest.raises(ModelError) as error:
        fetch(pin, settings.folder, reporter=told)

    told_sizes = "26.22 MB are needed there and 93.32 MB are free, of which 67.11 MB must stay free"
    assert f"{settings.folder}: {told_sizes}, for {FIRST}, {SECOND}" in str(error.value)
    assert "samequantity models fetch tiny --folder FOLDER" in str(error.value)
    assert [] == hub_here.requests
    assert not settings.folder.exists()


def test_a_file_that_is_linked_needs_no_room(
    settings: Settings,
    hub_here: FakeHub,
    pinned_shards: ModelPin,
    told: Told,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(SHARDS[FIRST])
    linked = settings.write(SHARDS[FIRST], {"path": str(copy)}, hub_source(FIRST, REVISION))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))

    fetch_models([linked], settings.folder, reporter=told)
    with pytest.raises(ModelError, match="are needed there"):
        fetch_models([linked, pinned_shards], settings.folder, reporter=told)

    assert [] == hub_here.requests


def test_a_folder_that_is_whole_serves_read_only_and_without_a_question(
    settings: Settings, hub_here: FakeHub, pinned_shards: ModelPin, told: Told
) -> None:
    settings.folder.mkdir()
    for name, content in SHARDS.items():
        (settings.folder / name).write_bytes(content)
        (settings.folder / name).chmod(0o444)
    settings.folder.chmod(0o555)
    before = settings.folder.stat()

    receipt = fetch(pinned_shards, settings.folder, reporter=told)

    after = settings.folder.stat()  # a test that runs as root could write; then the times would differ
    assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
    assert list(SHARDS) == [file.file for file in receipt.files]
    assert ([], []) == (hub_here.requests, hub_here.asked)


def test_a_file_of_a_folder_that_takes_no_record_is_used_and_that_is_said(
    settings: Settings, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = settings.write(None, {"path": None})
    settings.folder.mkdir()
    (settings.folder / "tiny.gguf").write_bytes(b"something")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("samequantity.models.folder.records.write_whole", refuse)

    assert sha256(b"something") == fetch(pin, settings.folder, reporter=told).digest
    assert "tiny.gguf: no digest is pinned, and none can be recorded (Permission denied)" == told.lines[-1]
