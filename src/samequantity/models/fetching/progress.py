"""What a long transfer tells the user: a bar on a terminal, a line every few seconds in a log."""

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from samequantity.models.sizes import size_text

SECONDS_BETWEEN_LINES = 5.0


class Meter(Protocol):
    """Where one transfer stands."""

    def at(self, position: int) -> None:
        """So many bytes of the file are there; a position before the last one is ignored."""


class Reporter(Protocol):
    """Where notices and progress go."""

    def line(self, text: str) -> None:
        """One notice of one line."""

    def meter(self, label: str, total: int | None) -> AbstractContextManager[Meter]:
        """A meter for a transfer of `total` bytes (None: not known)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleReporter:
    """Notices and progress on a text stream; None is the standard error stream of the moment."""

    stream: TextIO | None = None

    def line(self, text: str) -> None:
        print(text, file=self.stream or sys.stderr, flush=True)

    @contextmanager
    def meter(self, label: str, total: int | None) -> Iterator[Meter]:
        stream = self.stream or sys.stderr
        if not stream.isatty():
            yield _LineMeter(label=label, total=total, stream=stream)
            return
        from tqdm import tqdm

        with tqdm(desc=label, total=total, unit="B", unit_scale=True, file=stream, leave=False) as bar:
            yield _BarMeter(bar=bar)


@dataclass(slots=True, kw_only=True)
class _LineMeter:
    """A line every few seconds, so that a short transfer prints none."""

    label: str
    total: int | None
    stream: TextIO
    last: float = field(default_factory=time.monotonic)
    position: int = 0

    def at(self, position: int) -> None:
        self.position = max(position, self.position)
        now = time.monotonic()
        if now - self.last < SECONDS_BETWEEN_LINES:
            return
        self.last = now
        whole = f" of {size_text(self.total)}" if self.total else ""
        share = f" ({100 * self.position // self.total} %)" if self.total else ""
        print(f"{self.label}: {size_text(self.position)}{whole}{share}", file=self.stream, flush=True)


class _Bar(Protocol):
    """The part of tqdm's bar that is used here."""

    n: float

    def update(self, n: float = 1) -> bool | None:
        """Move on by n."""


@dataclass(slots=True, kw_only=True)
class _BarMeter:
    bar: _Bar

    def at(self, position: int) -> None:
        if position > self.bar.n:
            self.bar.update(position - self.bar.n)
