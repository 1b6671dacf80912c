"""What a lock writes for the values that are empty in a models file."""

from pathlib import Path

import pytest
import yaml

from fake_hub import FIRST, LATER, MOVED, REVISION, SECOND, SHARDS, WEIGHTS, FakeHub, hub_source, sha256
from fake_sources import Settings, Told, fetch
from samequantity.errors import IntegrityError, ModelError, SettingsError
from samequantity.models.fetching import hub_api
from samequantity.models.folder.verification import verify
from samequantity.models.pinning.locking import lock
from samequantity.models.pinning.pins import ModelPin, load_pins, pin_of


def lock_tiny(settings: Settings, told: Told, *, offline: bool = False, dry_run: bool = False) -> int:
    values = lock([settings.pin], settings.path, settings.folder, reporter=told, offline=offline, dry_run=dry_run)
    return len(values)


@pytest.mark.usefixtures("pin")
def test_a_lock_from_the_hub_fills_every_empty_value_and_downloads_nothing(
    settings: Settings, hub_here: FakeHub, told: Told
) -> None:
    before = settings.path.read_text()
    count = lock_tiny(settings, told)

    locked = settings.pin
    assert 7 == count
    assert locked.pinned
    assert [(len(content), sha256(content)) for content in SHARDS.values()] == [
        (f.size, f.sha256) for f in locked.files
    ]
    assert {REVISION} == {hub.revision for file in locked.files for hub in file.hubs} | {locked.provenance.revision}
    assert [] == hub_here.requests
    assert not settings.folder.exists()
    lines = zip(before.splitlines(), settings.path.read_text().splitlines(), strict=True)
    assert {"bytes", "sha256", "revision"} == {old.split(":")[0].strip(" -") for old, new in lines if old != new}
    assert f"models.tiny.files[1].sha256: {sha256(SHARDS[SECOND])}" in told.lines

    hub_here.current = LATER
    hub_here.commits[REVISION][SECOND] = MOVED[SECOND]
    with pytest.raises(IntegrityError, match=SECOND):
        fetch(locked, settings.folder, reporter=told)
    (settings.folder / FIRST).write_bytes(MOVED[FIRST])
    with pytest.raises(IntegrityError, match=FIRST):
        verify(locked, settings.folder)


@pytest.mark.usefixtures("pin")
def test_a_dry_run_says_what_would_be_written_and_writes_nothing(settings: Settings, told: Told) -> None:
    before = settings.path.read_bytes()

    assert 7 == lock_tiny(settings, told, dry_run=True)
    assert before == settings.path.read_bytes()
    assert f"models.tiny.files[0].sources[0].hub.revision: {REVISION}" in told.lines


def test_a_lock_from_the_fetched_files_needs_no_hub(
    settings: Settings, hub_here: FakeHub, pin: ModelPin, told: Told
) -> None:
    fetch(pin, settings.folder, reporter=told)
    hub_here.current = LATER
    hub_here.asked.clear()

    assert 7 == lock_tiny(settings, told, offline=True)
    assert settings.pin.pinned
    assert REVISION == settings.pin.files[1].hubs[0].revision
    assert [] == hub_here.asked
    assert fetch(pin, settings.folder, reporter=told) == verify(settings.pin, settings.folder)


def test_the_record_of_a_file_that_is_gone_serves_a_lock(settings: Settings, pin: ModelPin, told: Told) -> None:
    fetch(pin, settings.folder, reporter=told)
    (settings.folder / SECOND).unlink()

    lock_tiny(settings, told, offline=True)

    assert sha256(SHARDS[SECOND]) == settings.pin.files[1].sha256


@pytest.mark.usefixtures("pin")
def test_a_file_of_unknown_origin_is_compared_with_the_hub(settings: Settings, told: Told) -> None:
    settings.folder.mkdir()
    (settings.folder / FIRST).write_bytes(SHARDS[FIRST])
    (settings.folder / SECOND).write_bytes(MOVED[SECOND])
    before = settings.path.read_bytes()

    with pytest.raises(IntegrityError) as error:
        lock_tiny(settings, told)

    assert str(error.value).startswith(f"{SECOND}: somebody/tiny at {REVISION} has SHA-256 {sha256(SHARDS[SECOND])}")
    assert f"{settings.folder / SECOND} is SHA-256 {sha256(MOVED[SECOND])} (6000 bytes)" in str(error.value)
    assert before == settings.path.read_bytes()


@pytest.mark.usefixtures("pin")
def test_offline_the_revision_of_a_file_of_unknown_origin_stays_empty_and_that_is_said(
    settings: Settings, told: Told
) -> None:
    settings.folder.mkdir()
    for name, content in SHARDS.items():
        (settings.folder / name).write_bytes(content)

    assert 4 == lock_tiny(settings, told, offline=True)
    assert [None, None] == [file.hubs[0].revision for file in settings.pin.files]
    assert [sha256(content) for content in SHARDS.values()] == [file.sha256 for file in settings.pin.files]
    assert any(line.startswith(f"{FIRST}: somebody/tiny: its revision stays empty: offline") for line in told.lines)


@pytest.mark.parametrize("changes", [{"sha256": "ab" * 32}, {"bytes": 17}])
@pytest.mark.parametrize("here", [False, True])
def test_a_pinned_value_that_the_hub_or_the_file_contradicts_is_an_error_and_stays(
    settings: Settings, hub_here: FakeHub, told: Told, changes: dict[str, object], *, here: bool
) -> None:
    settings.write(None, hub_source(WEIGHTS, None), **changes)
    before = settings.path.read_bytes()
    if here:
        settings.folder.mkdir()
        (settings.folder / "tiny.gguf").write_bytes(hub_here.content)

    with pytest.raises(IntegrityError) as error:
        lock_tiny(settings, told)

    ((_, pinned),) = changes.items()
    assert "tiny.gguf" in str(error.value)
    assert str(pinned) in str(error.value)
    assert f"{len(hub_here.content)} bytes" in str(error.value)
    assert before == settings.path.read_bytes()


@pytest.mark.parametrize("same", [True, False])
def test_a_recorded_commit_that_is_not_the_pinned_one_is_no_reason_to_trust_the_file(
    settings: Settings, hub_here: FakeHub, pin: ModelPin, told: Told, *, same: bool
) -> None:
    fetch(pin, settings.folder, reporter=told)
    if same:
        hub_here.commits[LATER] = dict(SHARDS)
    settings.path.write_text(settings.path.read_text().replace("revision: null", f"revision: {LATER}"))

    if same:
        assert 4 == lock_tiny(settings, told)
        assert {LATER} == {hub.revision for file in settings.pin.files for hub in file.hubs}
    else:
        with pytest.raises(IntegrityError, match=rf"{FIRST}: somebody/tiny at {LATER} has SHA-256"):
            lock_tiny(settings, told)


@pytest.mark.usefixtures("pin")
def test_offline_with_nothing_here_a_lock_is_one_plain_message(settings: Settings, told: Told) -> None:
    before = settings.path.read_bytes()

    with pytest.raises(ModelError) as error:
        lock_tiny(settings, told, offline=True)

    assert f"tiny: {FIRST}: offline, no commit is pinned" in str(error.value)
    assert "Connect this machine to the hub, or fetch the model first" in str(error.value)
    assert before == settings.path.read_bytes()


@pytest.mark.usefixtures("pin")
def test_a_file_that_the_hub_gives_no_digest_of_must_be_fetched_first(
    settings: Settings, hub_here: FakeHub, told: Told
) -> None:
    hub_here.announced = {SECOND: ""}

    with pytest.raises(ModelError, match=rf"{SECOND}: .* gives no SHA-256 of it; fetch it first"):
        lock_tiny(settings, told)


@pytest.mark.usefixtures("hub_here")
def test_a_model_that_cannot_be_locked_does_not_hold_up_the_others(settings: Settings, told: Told) -> None:
    settings.write(None, hub_source(WEIGHTS, None))
    models = yaml.safe_load(settings.path.read_text())["models"]
    text = settings.path.read_text().replace("file: weights.gguf", "file: gone.gguf")
    other = yaml.safe_load(text.replace("name: tiny.gguf", "name: gone.gguf"))["models"]
    settings.path.write_text(yaml.safe_dump({"models": {"gone": other["tiny"], **models}}))
    with pytest.raises(ModelError, match=rf"gone: gone\.gguf: somebody/tiny has no file gone\.gguf at {REVISION}"):
        lock(list(load_pins(settings.path).values()), settings.path, settings.folder, reporter=told)

    assert settings.pin.pinned
    assert not pin_of(load_pins(settings.path), "gone").pinned


@pytest.mark.usefixtures("pin")
def test_a_models_file_that_is_edited_meanwhile_is_left_alone(
    settings: Settings, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited(repository: str, commit: str | None) -> hub_api.Snapshot:
        settings.path.write_text("# mine\n" + settings.path.read_text())
        return hub_api.ask_repository(repository, commit)

    monkeypatch.setattr("samequantity.models.fetching.commits.ask_repository", edited)

    with pytest.raises(SettingsError, match="was changed in the meantime; nothing was written"):
        lock_tiny(settings, told)
    assert not settings.pin.pinned


def test_a_link_to_a_models_file_stays_a_link(settings: Settings, pin: ModelPin, told: Told, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(settings.path)

    lock([pin], link, settings.folder, reporter=told)

    assert link.is_symlink()
    assert settings.pin.pinned


def test_offline_the_hubs_cache_knows_the_commit(
    settings: Settings, hub_here: FakeHub, pin: ModelPin, told: Told, tmp_path: Path
) -> None:
    cache = tmp_path / "hf" / "hub" / "models--somebody--tiny"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text(LATER)
    (cache / "snapshots" / LATER).mkdir(parents=True)
    for name, content in MOVED.items():
        (cache / "snapshots" / LATER / name).write_bytes(content)

    fetch(pin, settings.folder, reporter=told, offline=True)
    count = lock_tiny(settings, told, offline=True)

    assert 7 == count
    assert LATER == settings.pin.files[0].hubs[0].revision
    assert sha256(MOVED[SECOND]) == settings.pin.files[1].sha256
    assert [] == hub_here.asked


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
@pytest.mark.usefixtures("pin")
def test_a_models_file_keeps_its_mode(settings: Settings, told: Told, mode: int) -> None:
    pin = settings.pin
    settings.path.chmod(mode)

    lock([pin], settings.path, settings.folder, reporter=told)

    assert mode == settings.path.stat().st_mode & 0o777
    assert settings.pin.pinned


@pytest.mark.usefixtures("pin")
def test_a_models_file_that_may_not_be_written_is_refused_before_anything_is_asked(
    settings: Settings, hub_here: FakeHub, told: Told
) -> None:
    before = settings.path.read_bytes()
    settings.path.chmod(0o444)

    with pytest.raises(SettingsError) as error:
        lock_tiny(settings, told)

    assert f"{settings.path}: this user may not write it (mode 444)" in str(error.value)
    assert f"chmod u+w {settings.path}" in str(error.value)
    assert (before, []) == (settings.path.read_bytes(), hub_here.asked)
    assert 7 == lock_tiny(settings, told, dry_run=True)
