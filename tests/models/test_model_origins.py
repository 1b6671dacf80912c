"""A digest is written beside the file of the hub that it belongs to, and beside no other."""

import pytest
import yaml

from commands import done, samequantity
from fake_hub import LATER, REVISION, WEIGHTS, FakeHub, hub_source, sha256
from fake_sources import Settings, Told, fetch
from samequantity.errors import IntegrityError, ModelError, SettingsError
from samequantity.models.folder.verification import verify
from samequantity.models.pinning.locking import lock
from samequantity.models.pinning.pins import ModelPin, load_pins

OTHER = "other.gguf"


@pytest.fixture
def fetched(settings: Settings, hub_here: FakeHub, told: Told) -> ModelPin:
    """The file weights.gguf of the hub, fetched without a pin; the hub has other.gguf as well."""
    hub_here.commits[REVISION][OTHER] = b"other" * 1000
    pin = settings.write(None, hub_source(WEIGHTS, None))
    fetch(pin, settings.folder, reporter=told)
    return pin


def lock_tiny(settings: Settings, told: Told, *, offline: bool = False) -> int:
    return len(lock([settings.pin], settings.path, settings.folder, reporter=told, offline=offline))


@pytest.mark.usefixtures("fetched")
def test_a_file_that_was_fetched_under_another_name_of_the_hub_is_not_taken_for_the_one_that_is_named_now(
    settings: Settings, told: Told
) -> None:
    pin = settings.write(None, hub_source(OTHER, None))
    before = settings.path.read_bytes()

    for command in (
        lambda: fetch(pin, settings.folder, reporter=told),
        lambda: verify(pin, settings.folder),
        lambda: lock_tiny(settings, told),
        lambda: lock_tiny(settings, told, offline=True),
    ):
        with pytest.raises(IntegrityError) as error:
            command()
        assert f"fetched as {WEIGHTS} of somebody/tiny, says tiny.gguf.sha256, and the models file" in str(error.value)
        assert f"names {OTHER} of somebody/tiny. Delete both and fetch again: rm -f" in str(error.value)
    assert before == settings.path.read_bytes()

    for name in ("tiny.gguf", "tiny.gguf.sha256"):
        (settings.folder / name).unlink()
    fetch(pin, settings.folder, reporter=told)
    assert b"other" * 1000 == (settings.folder / "tiny.gguf").read_bytes()


@pytest.mark.usefixtures("fetched")
def test_the_record_of_a_file_that_is_gone_does_not_stand_for_another_file_either(
    settings: Settings, told: Told
) -> None:
    (settings.folder / "tiny.gguf").unlink()

    with pytest.raises(IntegrityError, match="fetched as weights"):
        fetch(settings.write(None, hub_source(OTHER, None)), settings.folder, reporter=told)
    with pytest.raises(IntegrityError, match="fetched as weights"):
        lock_tiny(settings, told)


@pytest.mark.usefixtures("fetched")
def test_a_pinned_digest_decides_whatever_was_recorded(settings: Settings, hub_here: FakeHub) -> None:
    pin = settings.write(hub_here.content, hub_source(OTHER, REVISION))

    assert sha256(hub_here.content) == verify(pin, settings.folder).digest


@pytest.mark.parametrize("kept", ["the record of an earlier version", "no record"])
@pytest.mark.usefixtures("fetched")
def test_a_file_of_which_nobody_knows_the_name_on_the_hub_is_compared_with_what_the_hub_says(
    settings: Settings, told: Told, kept: str
) -> None:
    record = settings.folder / "tiny.gguf.sha256"
    record.write_text(record.read_text().replace(f"# file {WEIGHTS}\n", ""))
    if kept == "no record":
        record.unlink()
    settings.write(None, hub_source(OTHER, None))

    with pytest.raises(IntegrityError, match=rf"somebody/tiny at {REVISION} has SHA-256 {sha256(b'other' * 1000)}"):
        lock_tiny(settings, told)
    settings.write(None, hub_source(WEIGHTS, None))
    assert 4 == lock_tiny(settings, told)


@pytest.mark.usefixtures("fetched")
def test_the_hub_is_asked_about_a_file_of_known_origin_too(settings: Settings, hub_here: FakeHub, told: Told) -> None:
    hub_here.commits[REVISION][WEIGHTS] = b"the history was rewritten"

    with pytest.raises(IntegrityError, match=rf"somebody/tiny at {REVISION} has SHA-256"):
        lock_tiny(settings, told)


@pytest.mark.usefixtures("fetched")
def test_a_file_of_known_origin_is_locked_without_the_hub_and_that_is_said(
    settings: Settings, told: Told, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{closed_port}")

    assert 4 == lock_tiny(settings, told)
    assert REVISION == settings.pin.files[0].hubs[0].revision
    assert any("as the first fetch recorded it, and not compared: no connection" in line for line in told.lines)


@pytest.mark.usefixtures("hub_here")
def test_nothing_is_written_beside_a_file_that_the_hub_does_not_have(settings: Settings, told: Told) -> None:
    settings.write(None, hub_source(OTHER, None))
    settings.folder.mkdir()
    (settings.folder / "tiny.gguf").write_bytes(b"mine")
    before = settings.path.read_bytes()

    with pytest.raises(ModelError, match=rf"tiny: tiny\.gguf: somebody/tiny has no file {OTHER} at {REVISION}"):
        lock_tiny(settings, told)
    assert before == settings.path.read_bytes()


def two_models(settings: Settings, changes: dict[str, object]) -> None:
    """Beside the model tiny one that is called twin and has the same file but for the changes."""
    models = yaml.safe_load(settings.path.read_text())["models"]
    (file,) = models["tiny"]["files"]
    models["twin"] = models["tiny"] | {"files": [file | changes]}
    settings.path.write_text(yaml.dump({"models": models}, Dumper=_NoAliases))


class _NoAliases(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - an alias would be filled in twice
        return True


@pytest.mark.parametrize(
    "changes",
    [
        {"bytes": 3},
        {"sha256": "ab" * 32},
        {"sources": [hub_source(OTHER, None)]},
        {"sources": [hub_source(WEIGHTS, LATER)]},
    ],
)
def test_two_models_whose_different_files_have_one_name_are_refused(
    settings: Settings, changes: dict[str, object]
) -> None:
    settings.write(None, hub_source(WEIGHTS, None))
    two_models(settings, changes)

    with pytest.raises(SettingsError) as error:
        load_pins(settings.path)

    assert str(error.value).startswith(f"{settings.path}: models.twin: its file tiny.gguf has the name of a file of ")
    assert "models.tiny, and another size, digest or source" in str(error.value)


@pytest.mark.usefixtures("hub_here")
def test_two_models_may_share_a_file_and_are_locked_together(settings: Settings) -> None:
    settings.write(None, hub_source(WEIGHTS, None))
    two_models(settings, {})

    err = done("models", "lock", "tiny", "--models-file", settings.path, "--folder", settings.folder).err

    assert "twin: has a file of tiny, so its values are filled in as well" in err
    assert [True, True] == [pin.pinned for pin in load_pins(settings.path).values()]


@pytest.mark.usefixtures("hub_here")
def test_a_lock_that_would_leave_a_file_that_cannot_be_read_writes_nothing(
    settings: Settings, hub_here: FakeHub
) -> None:
    """The two share a file, and each pins another commit for it."""
    hub_here.commits[LATER] = dict(hub_here.commits[REVISION])
    settings.write(None, hub_source(WEIGHTS, None))
    two_models(settings, {})
    models = yaml.safe_load(settings.path.read_text())
    for name, commit in (("tiny", REVISION), ("twin", LATER)):
        models["models"][name]["provenance"] = {"repository": "somebody/tiny", "revision": commit, "checkpoint": None}
    settings.path.write_text(yaml.dump(models, Dumper=_NoAliases))
    before = settings.path.read_bytes()

    ran = samequantity("models", "lock", "--models-file", settings.path, "--folder", settings.folder)

    assert "models.twin: its file tiny.gguf has the name of a file of models.tiny" in ran.message
    assert before == settings.path.read_bytes()
