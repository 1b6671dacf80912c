"""What every engine is: something that answers one request at a time and can say what it is.

Requests and completions are in `samequantity.domain.exchange`, since the inference stage, which knows no engine, and
the journal, which knows neither, speak of them too; they are offered here again.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from samequantity.domain.exchange import Completion, FinishReason, Request, Sampling, finish_reason

__all__ = ["Completion", "Engine", "Facts", "FinishReason", "Notice", "Request", "Sampling", "finish_reason", "tell"]

Facts = dict[str, object]
"""JSON-able names and values."""

Notice = Callable[[str], None]
"""Takes one line that a user should read though nothing failed."""

tell: Notice = logging.getLogger("samequantity").warning
"""One line to the terminal and to the file of `--log`."""


class Closing(ABC):
    """A context manager that closes at its end."""

    @abstractmethod
    def close(self) -> None:
        """Give everything back; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Engine(Protocol):
    """An open engine; a context manager that gives everything back at its end."""

    @property
    def in_flight(self) -> int:
        """How many requests may wait for their answers at once: with more than 1, `complete` bears several threads."""
        ...

    def identity(self) -> Facts:
        """What it is, as far as that decides an answer; enters stage keys and request digests. No host, no time."""
        ...

    def host_facts(self) -> Facts:
        """Where and how it runs: threads, devices, load time. For `run.json`, never for a key."""
        ...

    def prepare(self, request: Request) -> str:
        """SHA-256 of the prompt as the model will see it. ModelError when it and its answer cannot fit."""
        ...

    def complete(self, request: Request) -> Completion:
        """The answer to one request. ModelError when the engine fails or the request does not fit."""
        ...

    def close(self) -> None:
        """Free the model; a second call does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
