"""The place beside a model file where it is put together: `<file>.part`, held by one process at a time."""

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from samequantity.errors import ModelError
from samequantity.models.fetching.hub import PARTIAL_PREFIX
from samequantity.models.fetching.progress import Reporter

_LOCK = "lock"
_NO_LOCKS_HERE = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF}


@contextmanager
def workspace(folder: Path, file_name: str, reporter: Reporter) -> Iterator[Path]:
    """A folder for one fetch of one file, on the file system of the result so that a rename ends it.

    A second process waits until the first has ended. What a killed process left is cleared away, except for the
    beginning of a download of the hub while the file is not there, and so is what this one leaves. On a file system
    without locks every process has a folder of its own.

    Raises ModelError when something that is no folder has its name.
    """
    place = folder / f"{file_name}.part"
    handle = _hold(place, reporter)
    if handle is None:
        place = Path(tempfile.mkdtemp(prefix=f"{file_name}.", suffix=".part", dir=folder))
    try:
        _clear(place)
        yield place
    finally:
        _clear(place, beginnings=(folder / file_name).exists())
        # A workspace without a lock is never found again, so nothing in it is worth keeping.
        if handle is None or all(entry.name == _LOCK for entry in place.iterdir()):
            shutil.rmtree(place, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _hold(place: Path, reporter: Reporter) -> int | None:
    """A handle that holds the workspace until it is closed, or None where the file system has no locks."""
    told = False
    while True:
        try:
            place.mkdir(exist_ok=True)
        except FileExistsError as error:
            raise ModelError(
                f"{place}: not a folder; a fetch puts {place.name.removesuffix('.part')} together in a folder of that "
                f"name. Move away or delete what lies there, and fetch again."
            ) from error
        lock = place / _LOCK
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            continue  # the holder removed the workspace in this moment
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not told:
                reporter.line(f"{place.name.removesuffix('.part')}: another process is fetching it; waiting for that.")
                told = True
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            os.close(handle)
            if error.errno in _NO_LOCKS_HERE:
                return None
            raise
        if _is_still(handle, lock):
            return handle
        os.close(handle)  # the lock of a workspace that is gone holds nobody back


def _is_still(handle: int, lock: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), lock.stat())
    except FileNotFoundError:
        return False


def _clear(place: Path, *, beginnings: bool = False) -> None:
    for entry in place.iterdir():
        if entry.name == _LOCK or (entry.name.startswith(PARTIAL_PREFIX) and not beginnings):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
