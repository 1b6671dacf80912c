"""A split GGUF by the path of its first shard."""

import ast
import os
from pathlib import Path

import pytest

from fake_hub import sha256
from samequantity.errors import SettingsError
from samequantity.models import naming
from samequantity.models.folder.receipts import FileReceipt, Receipt
from samequantity.models.folder.splits import shard_paths, shards_digest
from samequantity.models.naming import is_file_path
from samequantity.models.pinning.pins import ModelName
from samequantity.models.pinning.source_pins import Sha256


def split(folder: Path, count: int) -> list[Path]:
    paths = [folder / f"a model-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]
    for path in paths:
        path.write_bytes(path.name.encode())
    return paths


@pytest.mark.parametrize("count", [1, 2, 12])
def test_the_first_shard_leads_to_all_in_order_and_every_one_is_hashed(tmp_path: Path, count: int) -> None:
    paths = split(tmp_path, count)
    files = tuple(FileReceipt(file=path.name, size=1, sha256=Sha256(sha256(path.read_bytes()))) for path in paths)

    assert paths == list(shard_paths(paths[0]))
    assert Receipt(model=ModelName("tiny"), files=files).digest == shards_digest(paths[0])


def test_a_file_that_is_not_split_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "model-00001-of-2.gguf"
    path.write_bytes(b"one")

    assert (path,) == shard_paths(path)
    assert sha256(b"one") == shards_digest(path)


def test_a_changed_byte_of_any_shard_changes_the_digest(tmp_path: Path) -> None:
    paths = split(tmp_path, 3)
    digests = {shards_digest(paths[0])}
    for path in paths:
        path.write_bytes(b"x")
        digests.add(shards_digest(paths[0]))

    assert 4 == len(digests)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    first, _, third = split(tmp_path, 3)
    third.unlink()

    with pytest.raises(SettingsError, match=r"a model-00003-of-00003\.gguf: .* it is shard 3 of the 3"):
        shard_paths(first)


@pytest.mark.parametrize("name", ["m-00002-of-00003.gguf", "m-00000-of-00003.gguf"])
def test_another_shard_than_the_first_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=r"not the first shard .* Give the first: .*/m-00001-of-00003\.gguf"):
        shard_paths(tmp_path / name)


def test_a_name_that_counts_no_shards_is_said_to_do_so(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"m-00001-of-00000\.gguf: its name says that the model is split into 0 shards"
    ):
        shard_paths(tmp_path / "m-00001-of-00000.gguf")


def test_a_shard_that_is_a_fifo_is_refused_and_not_opened(tmp_path: Path) -> None:
    first, second = split(tmp_path, 2)
    second.unlink()
    os.mkfifo(second)

    with pytest.raises(
        SettingsError, match=r"a model-00002-of-00002\.gguf: not a regular file, but a FIFO; it is shard 2"
    ):
        shards_digest(first)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("model.gguf", True),
        ("MODEL.GGUF", True),
        ("./model", True),
        ("folder/model.bin", True),
        ("/x/ok", True),
        ("model", False),
        ("model.bin", False),
        ("qwen2.5-coder-0.5b-instruct-q4_k_m", False),
        ("gguf", False),
    ],
)
def test_a_path_is_told_from_a_name_by_its_form_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, *, path: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    assert path == is_file_path(model)
    if "/" not in model:
        (tmp_path / model).touch()
    assert path == is_file_path(model)


def test_what_tells_a_path_from_a_name_needs_the_standard_library_alone() -> None:
    """The workflow imports it when it starts."""
    tree = ast.parse(Path(naming.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]

    assert {"os"} == {alias.name for node in imports for alias in node.names}
