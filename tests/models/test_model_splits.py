"""A split GGUF by the path of its first shard."""

from pathlib import Path

import pytest

from fake_hub import sha256
from samequantity.errors import SettingsError
from samequantity.models.pins import ModelName
from samequantity.models.receipts import FileReceipt, Receipt
from samequantity.models.source_pins import Sha256
from samequantity.models.splits import shard_paths, shards_digest


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


@pytest.mark.parametrize("name", ["m-00002-of-00003.gguf", "m-00001-of-00000.gguf", "m-00000-of-00003.gguf"])
def test_another_shard_than_the_first_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=r"not the first shard .* m-00001-of-|not the first shard"):
        shard_paths(tmp_path / name)
