"""How far an inference job is: a bar on a terminal, plain lines in a log."""

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from samequantity.domain.exchange import Completion

if TYPE_CHECKING:
    from samequantity.stages.asking import Progress

LINE_SECONDS = 10.0
"""Between two lines of a log."""


def progress_for(label: str, stream: TextIO | None = None, log_file: TextIO | None = None) -> "Progress":
    """A reporter that suits `stream` (standard error): a bar if it is a terminal, else lines; lines for a log file."""
    stream = sys.stderr if stream is None else stream
    shown = BarProgress(label, stream) if stream.isatty() else LineProgress(label, stream)
    return shown if log_file is None else _Both(shown, LineProgress(label, log_file))


class _Both:
    """Tells two reporters."""

    def __init__(self, *reporters: "Progress") -> None:
        self._reporters = reporters

    def start(self, *, total: int, known: int) -> None:
        """See `Progress`."""
        for reporter in self._reporters:
            reporter.start(total=total, known=known)

    def answered(self, completion: Completion) -> None:
        """See `Progress`."""
        for reporter in self._reporters:
            reporter.answered(completion)

    def finish(self) -> None:
        """See `Progress`."""
        for reporter in self._reporters:
            reporter.finish()


class _Counts:
    """What both reporters count: views done, and the tokens and seconds of those that the model answered."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.total = self.done = self.asked = self.tokens = 0
        self._started = clock()

    def start(self, total: int, known: int) -> None:
        self.total, self.done, self._started = total, known, self._clock()

    def add(self, completion: Completion) -> None:
        self.done += 1
        self.asked += 1
        self.tokens += (completion.prompt_tokens or 0) + (completion.completion_tokens or 0)

    @property
    def seconds(self) -> float:
        return self._clock() - self._started

    @property
    def rate(self) -> str:
        """Tokens a second, those of prompts included."""
        return f"{self.tokens / self.seconds if self.seconds > 0 else 0:.0f} tokens/s"

    @property
    def pace(self) -> str:
        """The rate and, once the model has answered, the time left at the pace of its answers so far."""
        if not self.asked:
            return self.rate
        return f"{self.rate}, {_clock_time(self.seconds / self.asked * (self.total - self.done))} left"


class LineProgress:
    """One line at the start, one every `LINE_SECONDS`, one at the end."""

    def __init__(self, label: str, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._label = label
        self._stream = stream
        self._clock = clock
        self._counts = _Counts(clock)
        self._last = clock()

    def start(self, *, total: int, known: int) -> None:
        """See `Progress`."""
        self._counts.start(total, known)
        self._last = self._clock()
        self._write(f"{known}/{total} responses are in the journal, {total - known} to ask")

    def answered(self, completion: Completion) -> None:
        """See `Progress`."""
        self._counts.add(completion)
        if self._clock() - self._last >= LINE_SECONDS:
            self._last = self._clock()
            self._write(f"{self._counts.done}/{self._counts.total}, {self._counts.pace}")

    def finish(self) -> None:
        """See `Progress`."""
        counts = self._counts
        self._write(
            f"{counts.done}/{counts.total}, {counts.asked} asked in {_clock_time(counts.seconds)}, {counts.rate}"
        )

    def _write(self, text: str) -> None:
        print(f"{self._label}: {text}", file=self._stream, flush=True)


class BarProgress:
    """A bar that shows done/total, tokens per second and the time left."""

    def __init__(self, label: str, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._label = label
        self._stream = stream
        self._counts = _Counts(clock)
        self._bar: Any = None

    def start(self, *, total: int, known: int) -> None:
        """See `Progress`."""
        from tqdm import tqdm

        self._counts.start(total, known)
        self._bar = tqdm(
            total=total,
            initial=known,
            desc=self._label,
            file=self._stream,
            dynamic_ncols=True,
            bar_format="{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{postfix}",
        )

    def answered(self, completion: Completion) -> None:
        """See `Progress`."""
        self._counts.add(completion)
        self._bar.set_postfix_str(self._counts.pace, refresh=False)
        self._bar.update()

    def finish(self) -> None:
        """See `Progress`."""
        if self._bar is not None:
            self._bar.close()


def _clock_time(seconds: float) -> str:
    """Seconds as m:ss or h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
