"""A GGUF that is split into shards, found by the path of its first one."""

import re
from pathlib import Path

from samequantity.errors import SettingsError
from samequantity.models.folder.reading import irregular, model_digest
from samequantity.models.folder.receipts import digest_of_shards
from samequantity.models.pinning.source_pins import Sha256

_SHARD = re.compile(
    r"""
    (?P<stem> .+ ) - (?P<number> [0-9]{5} ) -of- (?P<count> [0-9]{5} ) \.gguf     # as llama.cpp names them
    """,
    re.VERBOSE | re.ASCII | re.DOTALL,
)


def shard_paths(path: Path) -> tuple[Path, ...]:
    """The files of the model at `path`: all shards in order when it is the first of a split model, else itself.

    Raises SettingsError for a path that is another shard than the first, for a name that counts no shards, and for a
    shard that is missing.

    >>> shard_paths(Path("small.gguf"))
    (PosixPath('small.gguf'),)
    """
    named = _SHARD.fullmatch(path.name)
    if named is None:
        return (path,)
    stem, count = named["stem"], int(named["count"])
    if count == 0:
        raise SettingsError(
            f"{path}: its name says that the model is split into 0 shards, which none is. Give it the name that it had "
            f"where it comes from; a model that is not split needs no numbers in its name."
        )
    if int(named["number"]) != 1:
        first = path.with_name(f"{stem}-00001-of-{count:05}.gguf")
        raise SettingsError(f"{path}: not the first shard of the model. Give the first: {first}")
    paths = tuple(path.with_name(f"{stem}-{number:05}-of-{count:05}.gguf") for number in range(1, count + 1))
    for number, shard in enumerate(paths, start=1):
        if not shard.is_file():
            kind = irregular(shard)
            wrong = f"not a regular file, but {kind}" if kind else "there is no such file"
            raise SettingsError(
                f"{shard}: {wrong}; it is shard {number} of the {count} of the model {path}. Put it beside the others."
            )
    return paths


def shards_digest(path: Path) -> Sha256:
    """SHA-256 of the model at `path`, every shard hashed: what `Receipt.digest` is for a pinned model.

    Raises ModelError for what is not a regular file, and SettingsError as `shard_paths` does.
    """
    return digest_of_shards([model_digest(shard) for shard in shard_paths(path)])
