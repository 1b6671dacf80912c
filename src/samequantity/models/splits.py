"""A GGUF that is split into shards, found by the path of its first one."""

import re
from pathlib import Path

from samequantity.errors import SettingsError
from samequantity.models.receipts import digest_of_shards
from samequantity.models.source_pins import Sha256
from samequantity.store.digests import file_digest

_SHARD = re.compile(
    r"""
    (?P<stem> .+ ) - (?P<number> [0-9]{5} ) -of- (?P<count> [0-9]{5} ) \.gguf     # as llama.cpp names them
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)


def shard_paths(path: Path) -> tuple[Path, ...]:
    """The files of the model at `path`: all shards in order when it is the first of a split model, else itself.

    Raises SettingsError for a path that is another shard than the first, and for a shard that is missing.

    >>> shard_paths(Path("small.gguf"))
    (PosixPath('small.gguf'),)
    """
    named = _SHARD.fullmatch(path.name)
    if named is None:
        return (path,)
    stem, count = named["stem"], int(named["count"])
    if int(named["number"]) != 1 or count < 1:
        first = path.with_name(f"{stem}-00001-of-{count:05}.gguf")
        raise SettingsError(f"{path}: not the first shard of the model. Give the first: {first}")
    paths = tuple(path.with_name(f"{stem}-{number:05}-of-{count:05}.gguf") for number in range(1, count + 1))
    for number, shard in enumerate(paths, start=1):
        if not shard.is_file():
            raise SettingsError(
                f"{shard}: there is no such file; it is shard {number} of the {count} of the model {path}. "
                f"Put it beside the others."
            )
    return paths


def shards_digest(path: Path) -> Sha256:
    """SHA-256 of the model at `path`, every shard hashed: what `Receipt.digest` is for a pinned model."""
    return digest_of_shards([Sha256(file_digest(shard)) for shard in shard_paths(path)])
