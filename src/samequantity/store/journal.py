"""The journal of an inference job: what a model has answered already, safe against being killed at any moment.

One directory per system holds one file per shard, `<name>.jsonl`, one line per response:

    {"request": "<SHA-256 of all that decides the answer>", "response": {…}, "check": "<16 hex digits>"}

Every file of the directory is read, so that a study cut into other shards asks nothing twice; only one's own is
written, under a lock that the kernel releases when its holder dies.
"""

import errno
import fcntl
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from samequantity.domain.exchange import Completion, FinishReason
from samequantity.errors import JournalError
from samequantity.store.digests import canonical_json, json_digest

RETRY_SECONDS = 0.2

_HELD = frozenset({errno.EACCES, errno.EAGAIN})
_REFUSED = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL})

_tell: Callable[[str], None] = logging.getLogger("samequantity").warning
"""One line to the terminal and to the file of `--log`."""


class Journal:
    """An open journal: `find` what is answered, `append` what is new. A context manager; made by `Journal.open`.

    A process opens a journal once: the system's locks belong to a process, and a second opening would not wait.
    """

    def __init__(self, path: Path, lock: int, known: dict[str, Completion], kept_bytes: int) -> None:
        self._path = path
        self._lock: int | None = lock
        self._known = known
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o664)
        # A torn last line goes away for good: the next one must begin on a line of its own.
        os.ftruncate(self._file, kept_bytes)
        os.lseek(self._file, kept_bytes, os.SEEK_SET)
        os.fsync(self._file)
        self.appended = 0

    @classmethod
    def open(cls, directory: Path, name: str, *, wait_seconds: float, notice: Callable[[str], None] = _tell) -> Self:
        """Open `<directory>/<name>.jsonl` for appending, and read all journals of the directory.

        While another process writes that file, wait for at most `wait_seconds`, after one line through `notice`.
        Raises JournalError when it is still held then, when the file system refuses locks, and when a line that is
        not the last one cannot be read.
        """
        path = directory / f"{name}.jsonl"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            lock = _locked(path.with_suffix(".lock"), wait_seconds, notice)
            try:
                known: dict[str, Completion] = {}
                kept = 0
                for file in sorted({*directory.glob("*.jsonl"), path}):
                    end = _read_into(known, file)
                    kept = end if file == path else kept
                return cls(path, lock, known, kept)
            except BaseException:
                os.close(lock)
                raise
        except OSError as error:
            raise JournalError(
                f"{path}: cannot be opened ({error.strerror}). Check the directory's owner and the space left."
            ) from error

    def __len__(self) -> int:
        return len(self._known)

    def find(self, request: str) -> Completion | None:
        """The response to the request with this digest, if it is known."""
        return self._known.get(request)

    def append(self, request: str, response: Completion) -> None:
        """Keep a response; it is on the disk when this returns. Raises JournalError when it cannot be written."""
        line = _line(request, response)
        try:
            view = memoryview(line)
            while view:
                view = view[os.write(self._file, view) :]
            os.fsync(self._file)
        except OSError as error:
            raise JournalError(
                f"{self._path}: a response cannot be written ({error.strerror}). Make room or check the disk; the same"
                f" command goes on after the {len(self._known)} responses that are kept."
            ) from error
        self._known[request] = response
        self.appended += 1

    def close(self) -> None:
        """Release the file and its lock; a second call does nothing."""
        if self._lock is not None:
            os.close(self._file)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _line(request: str, response: Completion) -> bytes:
    record: dict[str, object] = {"request": request, "response": asdict(response)}
    return canonical_json({**record, "check": _check(record)}) + b"\n"


def _check(record: dict[str, object]) -> str:
    return json_digest(record)[:16]


def _read_into(known: dict[str, Completion], path: Path) -> int:
    """Add a file's responses to `known`; the number of bytes of its whole lines. A torn last line is passed over."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return 0
    end = data.rfind(b"\n") + 1
    for number, line in _numbered(data[:end]):
        try:
            request, response = _parsed(line)
        except (ValueError, TypeError, KeyError) as error:
            raise JournalError(
                f"{path}, line {number}: this is no whole response ({error}). The file was edited or damaged. Delete"
                f" that line (sed -i {number}d {path}) and run the same command: it asks for that response again."
            ) from error
        known.setdefault(request, response)
    return end


def _numbered(data: bytes) -> Iterator[tuple[int, bytes]]:
    return enumerate(data.split(b"\n")[:-1], start=1)


def _parsed(line: bytes) -> tuple[str, Completion]:
    record = json.loads(line)
    if not isinstance(record, dict):
        raise TypeError("not a JSON object")
    check = record.pop("check")
    if check != _check(record):
        raise ValueError("its check does not match")
    fields = record["response"]
    return record["request"], Completion(**{**fields, "finish_reason": FinishReason(fields["finish_reason"])})


def _locked(path: Path, wait_seconds: float, notice: Callable[[str], None]) -> int:
    """A descriptor that holds the exclusive lock; closing it, or dying, releases it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o664)
    try:
        deadline = time.monotonic() + wait_seconds
        waiting = False
        while not _try_lock(descriptor, path):
            if not waiting:
                waiting = True
                notice(f"{path}: held by {_holder(path)}; waiting for up to {wait_seconds:g} s.")
            if time.monotonic() >= deadline:
                raise JournalError(
                    f"{path}: still held by {_holder(path)} after {wait_seconds:g} s. Another job asks for the same"
                    " responses: let it end, or stop it, and run the same command again."
                )
            time.sleep(min(RETRY_SECONDS, max(deadline - time.monotonic(), 0.01)))
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _try_lock(descriptor: int, path: Path) -> bool:
    try:
        # lockf, not flock: on a network file system it holds across machines.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        if error.errno in _REFUSED:
            raise JournalError(
                f"{path}: this file system refuses locks ({error.strerror}), so two jobs could write one journal. Put"
                " the results on one that has them, or have it mounted with locks."
            ) from error
        raise
    return True


def _holder(path: Path) -> str:
    with suppress(OSError):
        if holder := path.read_text(encoding="utf-8", errors="replace").strip():
            return holder
    return "another process"
