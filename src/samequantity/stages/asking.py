"""Asks an engine questions, one at a time or several at once, and keeps each answer before it asks the next."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from samequantity.domain.exchange import Completion, Request

GRACE_SECONDS = 10.0
"""How long an interrupted job waits for the answers that are on their way; a second Ctrl-C does not wait."""

WAKE_SECONDS = 0.2
"""How often a waiting job looks whether it is interrupted."""


Notice = Callable[[str], None]
"""Takes one line for whoever watches."""

_tell: Notice = logging.getLogger("samequantity").warning


class Completing(Protocol):
    """What asking needs of an engine."""

    @property
    def in_flight(self) -> int:
        """How many requests may wait for their answers at once."""
        ...

    def complete(self, request: Request) -> Completion:
        """The answer; with more than one in flight, from several threads at once."""
        ...


@runtime_checkable
class Interruptible(Protocol):
    """What an engine has besides where its threads may sleep between two attempts."""

    def interrupt(self) -> None:
        """Begin nothing again: what only sleeps fails now, what is in flight goes on. From any thread."""
        ...


class Memory(Protocol):
    """What asking needs of a journal: responses by the digest of their request."""

    def find(self, request: str, /) -> Completion | None:
        """The response, if it is known."""
        ...

    def append(self, request: str, response: Completion, /) -> None:
        """Keep a response for good."""
        ...


class Progress(Protocol):
    """What is told to whoever watches."""

    def start(self, *, total: int, known: int) -> None:
        """`total` views, of which the journal answers `known`."""
        ...

    def answered(self, completion: Completion) -> None:
        """One more view is answered by the model."""
        ...

    def finish(self) -> None:
        """Nothing more comes, be it that all is done or that something failed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A request by its digest, and how many views wait for the answer."""

    request: Request
    digest: str
    views: int


def ask(
    questions: Sequence[OpenQuestion],
    engine: Completing,
    journal: Memory,
    progress: Progress,
    *,
    notice: Notice = _tell,
) -> dict[str, Completion]:
    """The answers by the questions' digests, which must be distinct; each is in the journal before another is asked.

    Raises what the engine and the journal raise: the first failure ends the asking. Requests that are in flight then
    are waited for and kept, after Ctrl-C or SIGTERM for `GRACE_SECONDS` only, which one line through `notice` says;
    those that sleep between two attempts are not.
    """
    asking = _Asking(iter(questions), engine, journal, progress, notice)
    if engine.in_flight == 1:
        asking.work()
    else:
        asking.work_together(min(engine.in_flight, len(questions)))
    return asking.answers


class _Asking:
    """The questions that are left and the answers so far, for one thread or several."""

    def __init__(
        self, questions: Iterator[OpenQuestion], engine: Completing, journal: Memory, progress: Progress, notice: Notice
    ) -> None:
        self.answers: Final[dict[str, Completion]] = {}
        self._questions = questions
        self._engine = engine
        self._journal = journal
        self._progress = progress
        self._notice = notice
        self._lock = threading.Lock()
        self._ended = threading.Condition(self._lock)
        self._working = 0
        self._failures: list[BaseException] = []
        self._stopped = self._abandoned = False

    def work(self) -> None:
        """Ask until no question is left."""
        while (question := self._next()) is not None:
            completion = self._engine.complete(question.request)
            self._keep(question, completion)

    def work_together(self, count: int) -> None:
        """The same in `count` threads at once.

        They write to the journal themselves, one at a time: a signal interrupts the main thread only, so that no line
        is torn by Ctrl-C while others are still to be written.
        """
        try:
            for _ in range(count):
                with self._lock:
                    self._working += 1
                threading.Thread(target=self._work_or_fail, daemon=True).start()
            self._wait(lambda: bool(self._failures))
            if self._failures:
                self._wait_for_answers(math.inf, "A request failed: waiting", "Ctrl-C ends that")
        except BaseException as stop:  # Ctrl-C or SIGTERM
            self._stopped = True
            again = "Ctrl-C again" if isinstance(stop, KeyboardInterrupt) else "a second signal"
            self._wait_for_answers(GRACE_SECONDS, f"waiting up to {GRACE_SECONDS:.0f} s", f"{again} stops now")
            raise
        finally:
            with self._lock:
                self._abandoned = True
        if self._failures:
            raise self._failures[0]

    def _wait_for_answers(self, seconds: float, waiting: str, way_out: str) -> None:
        """Wait for what is in flight, and say so; what only sleeps is woken and ends."""
        if isinstance(self._engine, Interruptible):
            self._engine.interrupt()
        self._wait(seconds=WAKE_SECONDS)
        if working := self._working:
            self._notice(f"{waiting} for {working} answer{'' if working == 1 else 's'} in flight; {way_out}")
        self._wait(seconds=seconds)

    def _wait(self, or_until: Callable[[], bool] = lambda: False, *, seconds: float = math.inf) -> None:
        """Wait until no thread works any more or something else is so, at most so many seconds.

        Not by joining them: an interrupted `join` takes a thread that works for one that has ended (Python 3.11), and
        a wait without a time limit may take no notice of Ctrl-C.
        """
        deadline = time.monotonic() + seconds
        while self._working and not or_until() and time.monotonic() < deadline:
            with self._ended:
                self._ended.wait_for(lambda: not self._working or or_until(), WAKE_SECONDS)

    def _work_or_fail(self) -> None:
        try:
            self.work()
        except BaseException as error:  # noqa: BLE001, raised again by the thread that waits
            self._failures.append(error)
        finally:
            with self._ended:
                self._working -= 1
                self._ended.notify()

    def _next(self) -> OpenQuestion | None:
        with self._lock:
            return None if self._stopped or self._failures else next(self._questions, None)

    def _keep(self, question: OpenQuestion, completion: Completion) -> None:
        with self._lock:
            if self._abandoned:  # the journal may be closed by now
                return
            self._journal.append(question.digest, completion)
            self.answers[question.digest] = completion
            for _ in range(question.views):
                self._progress.answered(completion)
