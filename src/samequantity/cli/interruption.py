"""Stopping an inference job by hand or by a scheduler: what is answered is kept, and one line says so."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol


class Kept(Protocol):
    """A journal, as far as the message needs it."""

    appended: int

    def __len__(self) -> int: ...


class _Terminated(BaseException):
    """SIGTERM arrived: not an Exception, so that nothing on the way takes it for an error of its own."""


@contextmanager
def resumable(journal: Kept) -> Iterator[None]:
    """Within, Ctrl-C and SIGTERM end the process with one line and the usual exit status (130, 143).

    The responses so far are in the journal already. Enter it inside the journal's own `with`, whose end then closes
    it on the way out. Use it in the main thread.
    """
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except (KeyboardInterrupt, _Terminated) as stop:
        code = signal.SIGINT if isinstance(stop, KeyboardInterrupt) else signal.SIGTERM
        print(
            f"Stopped: {journal.appended} responses were added, {len(journal)} are in the journal."
            " The same command goes on from there.",
            file=sys.stderr,
            flush=True,
        )
        raise SystemExit(128 + code) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated
