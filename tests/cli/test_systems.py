"""How a command is told which model it asks: a pinned one by its name, a file of the user's own by its path."""

import os
import shutil
from pathlib import Path

import pytest

from fake_hub import sha256
from samequantity.cli.systems import ModelFiles, model_files
from samequantity.errors import ModelError, SettingsError

PINS = """
models:
  tiny:
    licence: MIT
    provenance: {repository: somebody/tiny, revision: null, checkpoint: null}
    files: [{name: tiny.bin, bytes: 3, sha256: DIGEST, sources: [{path: null}]}]
""".replace("DIGEST", sha256(b"pin"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a models file and the pinned model tiny, and some files of one's own."""
    monkeypatch.chdir(tmp_path)
    Path("pins.yaml").write_text(PINS)
    Path("models").mkdir()
    Path("models/tiny.bin").write_bytes(b"pin")
    for name in ("own.bin", "own", "UPPER.GGUF", "tiny"):
        Path(name).write_bytes(name.encode())
    return tmp_path


def files_of(model: str) -> ModelFiles:
    return model_files(model, Path("pins.yaml"), Path("models"))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("model", ["./own.bin", "./own", "UPPER.GGUF", "./tiny"])
def test_a_path_is_the_file_there_whatever_its_suffix(model: str) -> None:
    assert ModelFiles(path=Path(model), digest=sha256(Path(model).name.encode()), pinned=False) == files_of(model)


def test_a_whole_path_is_a_file_of_ones_own(here: Path) -> None:
    assert not files_of(str(here / "own")).pinned


@pytest.mark.usefixtures("here")
def test_a_name_is_the_pinned_model_even_if_a_file_has_that_name() -> None:
    assert ModelFiles(path=Path("models/tiny.bin"), digest=sha256(b"pin"), pinned=True) == files_of("tiny")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("model", ["./gone", "/nowhere/x.bin", "gone.gguf", "GONE.GGUF"])
def test_a_path_where_nothing_is_says_that_a_file_was_looked_for(model: str) -> None:
    with pytest.raises(SettingsError) as error:
        files_of(model)

    assert str(error.value).startswith(
        f"--model {model}: no such file. What has a / in it or ends in .gguf is the path"
    )


@pytest.mark.usefixtures("here")
def test_a_name_that_is_not_pinned_says_that_a_name_was_looked_for_and_how_a_file_is_meant() -> None:
    with pytest.raises(
        SettingsError, match=r"--model gone: no model is called 'gone'; the models file has tiny\. A file"
    ):
        files_of("gone")
    with pytest.raises(
        SettingsError, match=r"no model is called 'own\.bin'; .* For the file of that name: .* \./own\.bin"
    ):
        files_of("own.bin")


@pytest.mark.usefixtures("here")
def test_what_is_no_regular_file_is_refused_before_it_is_opened() -> None:
    os.mkfifo("fifo.gguf")
    Path("folder.gguf").mkdir()
    Path("zero.gguf").symlink_to("/dev/zero")
    for model, kind in (("fifo.gguf", "a FIFO"), ("folder.gguf", "a folder"), ("zero.gguf", "a device")):
        with pytest.raises(ModelError, match=f"{model}: not a regular file, but {kind}"):
            files_of(model)


@pytest.mark.usefixtures("here")
def test_without_a_models_file_a_path_serves_and_a_name_does_not() -> None:
    Path("pins.yaml").unlink()

    assert not files_of("./own").pinned
    with pytest.raises(SettingsError, match=r"pins\.yaml: cannot be read"):
        files_of("tiny")
    shutil.copy("own", "other.gguf")
    assert sha256(b"own") == files_of("other.gguf").digest
