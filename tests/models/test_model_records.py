"""What a fetch records of a file that is not wholly pinned, and holds to afterwards."""

from dataclasses import replace
from pathlib import Path

import pytest

from fake_hub import FIRST, LATER, MOVED, REVISION, SECOND, SHARDS, FakeHub, sha256
from fake_sources import Settings, Told, fetch
from samequantity.errors import IntegrityError, ModelError
from samequantity.models.fetching import hub_api
from samequantity.models.folder.records import HubOrigin, Record, held_to, read_record
from samequantity.models.folder.verification import verify
from samequantity.models.pinning.pins import FilePin, ModelPin
from samequantity.models.pinning.source_pins import Sha256

RECORD = f"{sha256(SHARDS[FIRST])}  {FIRST}\n# bytes 5000\n# commit {REVISION} of somebody/tiny\n# file {FIRST}\n"


ORIGIN = HubOrigin(repository="somebody/tiny", commit=REVISION, file=FIRST)


def test_the_current_commit_is_asked_for_once_and_recorded_beside_each_file(
    settings: Settings, hub_here: FakeHub, pin: ModelPin, told: Told
) -> None:
    fetch(pin, settings.folder, reporter=told)

    assert ["/api/models/somebody/tiny?blobs=true"] == hub_here.asked
    assert RECORD == (settings.folder / f"{FIRST}.sha256").read_text()
    assert f"somebody/tiny: no revision is pinned; its current commit is {REVISION}" == told.lines[0]
    assert (
        f"{FIRST}: not wholly pinned; SHA-256 {sha256(SHARDS[FIRST])} (5000 bytes), {FIRST} of somebody/tiny at "
        f"commit {REVISION}, is recorded beside it and nothing else is accepted from now on. To pin it: "
        "samequantity models lock tiny" in told.lines
    )


def test_when_the_repository_moves_the_recorded_commit_is_kept_to_for_every_file(
    settings: Settings, hub_here: FakeHub, pin: ModelPin, told: Told
) -> None:
    fetch(pin, settings.folder, reporter=told)
    hub_here.current = LATER
    (settings.folder / SECOND).unlink()
    (settings.folder / f"{SECOND}.sha256").unlink()

    fetch(pin, settings.folder, reporter=told)

    assert SHARDS[SECOND] == (settings.folder / SECOND).read_bytes()
    record = read_record(settings.folder / SECOND)
    assert record is not None
    assert HubOrigin(repository="somebody/tiny", commit=REVISION, file=SECOND) == record.source


def test_what_is_recorded_is_the_only_thing_that_is_accepted(
    settings: Settings, hub_here: FakeHub, pin: ModelPin, told: Told
) -> None:
    fetch(pin, settings.folder, reporter=told)
    (settings.folder / SECOND).write_bytes(MOVED[SECOND])
    with pytest.raises(IntegrityError, match=rf"{SECOND}: SHA-256 {sha256(MOVED[SECOND])}"):
        verify(pin, settings.folder)

    (settings.folder / SECOND).unlink()
    hub_here.commits[REVISION] = dict(MOVED)  # the history was rewritten
    with pytest.raises(IntegrityError, match=rf"{SECOND}: .* offers {SECOND} .* wanted {sha256(SHARDS[SECOND])}"):
        fetch(pin, settings.folder, reporter=told)
    del hub_here.commits[REVISION]
    with pytest.raises(ModelError, match=rf"{SECOND}: no source"):
        fetch(pin, settings.folder, reporter=told)


def test_two_recorded_commits_of_one_model_are_refused(settings: Settings, pin: ModelPin, told: Told) -> None:
    settings.folder.mkdir()
    for name, commit in zip(SHARDS, (REVISION, LATER), strict=True):
        source = HubOrigin(repository="somebody/tiny", commit=commit, file=name)
        Record(sha256=Sha256("ab" * 32), size=1, source=source).write(settings.folder / name)

    with pytest.raises(IntegrityError, match=rf"two commits of somebody/tiny: .*{SECOND}\.sha256 says {LATER}"):
        fetch(pin, settings.folder, reporter=told)


@pytest.mark.usefixtures("pin")
def test_a_commit_that_the_model_pins_elsewhere_holds_for_its_files(
    settings: Settings, hub_here: FakeHub, told: Told
) -> None:
    hub_here.current = LATER
    before, _, after = settings.path.read_text().rpartition("revision: null")
    settings.path.write_text(f"{before}revision: {REVISION}{after}")

    assert REVISION == settings.pin.provenance.revision
    fetch(settings.pin, settings.folder, reporter=told)

    assert SHARDS == {name: (settings.folder / name).read_bytes() for name in SHARDS}


@pytest.mark.usefixtures("hub_here")
def test_a_hub_that_cannot_be_reached_costs_one_line_and_one_attempt(
    settings: Settings, told: Told, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{closed_port}")
    asked: list[str] = []

    def ask(repository: str, commit: str | None) -> hub_api.Snapshot:
        asked.append(repository)
        return hub_api.ask_repository(repository, commit)

    monkeypatch.setattr("samequantity.models.fetching.commits.ask_repository", ask)

    with pytest.raises(ModelError) as error:
        fetch(settings.write_shards(dict.fromkeys(SHARDS)), settings.folder, reporter=told)

    assert 1 == len(asked) == len(told.lines)
    assert f"{FIRST}: not from the model hub (somebody/tiny at its current commit): no connection" in told.lines[0]
    assert "the model hub (somebody/tiny at its current commit): no connection" in str(error.value)


def test_a_damaged_file_of_the_hubs_cache_is_not_recorded(
    settings: Settings, pin: ModelPin, told: Told, tmp_path: Path
) -> None:
    cache = tmp_path / "hf" / "hub" / "models--somebody--tiny"
    for folder in ("blobs", f"snapshots/{REVISION}"):
        (cache / folder).mkdir(parents=True)
    blob = cache / "blobs" / sha256(SHARDS[FIRST])
    blob.write_bytes(b"cut sho")
    (cache / "snapshots" / REVISION / FIRST).symlink_to(blob)

    with pytest.raises(IntegrityError, match=rf"^{FIRST}: .* calls {FIRST} SHA-256 {sha256(SHARDS[FIRST])}, and what"):
        fetch(pin, settings.folder, reporter=told)

    assert [] == list(settings.folder.iterdir())


@pytest.mark.parametrize(
    ("text", "record"),
    [
        (f"{'ab' * 32}  tiny.gguf\n", Record(sha256=Sha256("ab" * 32))),
        (f"{'ab' * 32}  tiny.gguf\n# bytes 3\n", Record(sha256=Sha256("ab" * 32), size=3)),
        (
            f"{'ab' * 32} *tiny.gguf\n# bytes 3\n# commit {REVISION} of somebody/tiny\n",
            Record(sha256=Sha256("ab" * 32), size=3, source=replace(ORIGIN, file=None)),
        ),
        (
            f"{'ab' * 32}  /data/tiny.gguf\n# bytes 3\n# commit {REVISION} of somebody/tiny\n# file a folder/a.gguf\n",
            Record(sha256=Sha256("ab" * 32), size=3, source=replace(ORIGIN, file="a folder/a.gguf")),
        ),
    ],
)
def test_a_record_of_any_form_is_read(tmp_path: Path, text: str, record: Record) -> None:
    (tmp_path / "tiny.gguf.sha256").write_text(text)

    assert record == read_record(tmp_path / "tiny.gguf")


def test_a_record_of_another_file_than_the_pinned_one_says_nothing_about_its_size() -> None:
    file = FilePin(name="tiny.gguf", size=None, sha256=Sha256("ab" * 32), sources=())

    assert file == held_to(file, Record(sha256=Sha256("cd" * 32), size=3))
    assert replace(file, size=3) == held_to(file, Record(sha256=Sha256("ab" * 32), size=3))


@pytest.mark.parametrize("text", ["", "what\n", f"{'ab' * 32}  tiny.gguf\n# bytes many\n", "\udcff"])
def test_a_broken_record_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "tiny.gguf.sha256").write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(IntegrityError, match=r"tiny\.gguf\.sha256: not the record of a model file"):
        read_record(tmp_path / "tiny.gguf")
