"""Reading a model file whole, once it is sure that it is a file: a FIFO would never end, nor would a device."""

import stat
from pathlib import Path

from samequantity.errors import ModelError
from samequantity.models.pinning.source_pins import Sha256
from samequantity.store.digests import file_digest

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def model_digest(path: Path) -> Sha256:
    """SHA-256 of a model file, symbolic links followed.

    Raises ModelError, before it is opened, for what is not a regular file, and OSError for what cannot be read.
    """
    if kind := irregular(path):
        raise ModelError(
            f"{path}: not a regular file, but {kind}. A model is read whole before it is used: give a GGUF file, or "
            f"move away what lies there."
        )
    return Sha256(file_digest(path))


def irregular(path: Path) -> str | None:
    """What is at the path if it is there and no regular file, in two words; OSError when nobody can say."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return None if kind == stat.S_IFREG else _KINDS.get(kind, "something else")
