"""A watcher sees how far a job is; whoever stops it is told what is kept."""

import io
import signal

import pytest

from samequantity.cli.interruption import resumable
from samequantity.cli.progress import BarProgress, LineProgress, progress_for
from samequantity.domain.exchange import Completion, FinishReason

RESPONSE = Completion(
    text="4",
    reasoning="",
    raw="4",
    finish_reason=FinishReason.STOP,
    raw_finish_reason="eog",
    prompt_sha256="ab" * 32,
    prompt_tokens=70,
    completion_tokens=30,
    seconds=1.0,
)


class Clock:
    """Time that passes when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


class Answered:
    """A journal with some responses."""

    appended = 3

    def __len__(self) -> int:
        return 40


def stop_within(number: signal.Signals) -> None:
    with resumable(Answered()):
        signal.raise_signal(number)  # in this thread: os.kill may deliver it to another one, of polars


def test_a_log_gets_a_line_every_ten_seconds_and_one_at_the_end() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = LineProgress("smol", stream, clock)
    progress.start(total=100, known=10)
    for _ in range(12):
        clock.now += 2.5
        progress.answered(RESPONSE)
    progress.finish()

    assert stream.getvalue().splitlines() == [
        "smol: 10/100 responses are in the journal, 90 to ask",
        "smol: 14/100, 40 tokens/s, 3:35 left",
        "smol: 18/100, 40 tokens/s, 3:25 left",
        "smol: 22/100, 40 tokens/s, 3:15 left",
        "smol: 22/100, 12 asked in 0:30, 40 tokens/s",
    ]


def test_a_terminal_gets_a_bar_with_count_rate_and_time_left() -> None:
    stream, clock = Terminal(), Clock()
    progress = BarProgress("smol", stream, clock)
    progress.start(total=7300, known=0)
    clock.now += 1
    progress.answered(RESPONSE)
    progress.finish()

    assert "1/7300, 100 tokens/s, 2:01:39 left" in stream.getvalue()


def test_the_stream_decides_which_it_is() -> None:
    assert isinstance(progress_for("smol", Terminal()), BarProgress)
    assert isinstance(progress_for("smol", io.StringIO()), LineProgress)


def test_nothing_asked_and_nothing_started_are_fine() -> None:
    stream = io.StringIO()
    progress = LineProgress("smol", stream, Clock())
    progress.start(total=4, known=4)
    progress.finish()
    BarProgress("smol", Terminal()).finish()

    assert stream.getvalue().splitlines()[-1] == "smol: 4/4, 0 asked in 0:00, 0 tokens/s"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_job_ends_with_one_line(number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)

    with pytest.raises(SystemExit) as stopped:
        stop_within(number)

    assert 128 + number == stopped.value.code
    assert capsys.readouterr().err.splitlines() == [
        "Stopped: 3 responses were added, 40 are in the journal. The same command goes on from there."
    ]
    assert before == signal.getsignal(signal.SIGTERM)
