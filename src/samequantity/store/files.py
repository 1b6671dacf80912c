"""Files that appear whole or not at all, and copies that share no bytes with their original."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FICLONE = 0x40049409  # the Linux ioctl that makes a reflink; other systems and file systems refuse it


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Within, an error of the system that names no file, as a full disk's, or a temporary one, names `path`."""
    try:
        yield
    except OSError as error:
        if error.filename is None or Path(error.filename).name.startswith(f".{path.name}."):
            error.filename = str(path)
        raise


@contextmanager
def appearing(path: Path, *, mode: int | None = None) -> Iterator[Path]:
    """A temporary path beside `path`, flushed to disk and renamed to it at the end, removed when the block fails.

    The file gets the mode, or (None) the one that any new file of this user has.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path):
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        os.close(descriptor)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o666 & ~_umask() if mode is None else mode)
            sync(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Write a file so that a reader sees the old bytes or all of the new ones; for the mode see `appearing`."""
    with appearing(path, mode=mode) as temporary:
        temporary.write_bytes(content)


def copy_apart(source: Path, target: Path) -> None:
    """Copy, as a reflink where the file system can; never a hard link, so a change of one leaves the other alone."""
    with source.open("rb") as reader, target.open("wb") as writer:
        if not _reflink(reader.fileno(), writer.fileno()):
            shutil.copyfileobj(reader, writer, 1 << 20)


def sync(path: Path) -> None:
    """Have the system write a file or a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reflink(source: int, target: int) -> bool:
    try:
        import fcntl

        fcntl.ioctl(target, _FICLONE, source)
    except (ImportError, OSError):
        return False
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
