"""Several requests in flight give the table that one at a time gives, and lose no answer that has arrived."""

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from samequantity.domain.exchange import Completion, Request, Sampling
from samequantity.engines.scripted import ScriptedEngine
from samequantity.errors import JournalError, ModelError
from samequantity.stages import asking
from samequantity.stages.infer import Decoding, Inference, infer
from samequantity.store.journal import Journal

SECONDS = 10
"""Nothing here takes long; what hangs is to fail soon."""

NOTICED = 2 * asking.WAKE_SECONDS
"""By then an interruption has been noticed."""


class Crowd(ScriptedEngine):
    """A scripted engine for several requests at once, which it counts."""

    def __init__(self, in_flight: int, answer: Callable[[str], str] = str.upper) -> None:
        super().__init__(answer)
        self.in_flight = in_flight
        self.present = self.most = 0
        self.threads: set[threading.Thread] = set()
        self._counting = threading.Lock()

    def complete(self, request: Request) -> Completion:
        with self._counting:
            self.present += 1
            self.most = max(self.most, self.present)
            self.threads.add(threading.current_thread())
        try:
            return super().complete(request)
        finally:
            with self._counting:
                self.present -= 1


class Memory:
    """A journal in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, Completion] = {}

    def find(self, request: str) -> Completion | None:
        return self.kept.get(request)

    def append(self, request: str, response: Completion) -> None:
        self.kept[request] = response


class Watch:
    """Progress that counts."""

    def __init__(self) -> None:
        self.answers: list[str] = []
        self.started: tuple[int, int] | None = None
        self.finished = False

    def start(self, *, total: int, known: int) -> None:
        self.started = (total, known)

    def answered(self, completion: Completion) -> None:
        self.answers.append(completion.text)

    def finish(self) -> None:
        self.finished = True


def views(*prompts: str) -> pl.DataFrame:
    return pl.DataFrame({"view_id": [f"a-{number:04}/fraction" for number in range(len(prompts))], "prompt": prompts})


def ask(table: pl.DataFrame, engine: Any, journal: Any, watch: Watch | None = None) -> Inference:
    decoding = Decoding(max_tokens=24, sampling=Sampling(temperature=0, top_k=1, top_p=1, seed=7))
    return infer(table, engine, journal, system="tiny", decoding=decoding, progress=watch or Watch())


def together(count: int) -> Callable[[str], str]:
    """Answers when `count` requests wait, never sooner."""
    barrier = threading.Barrier(count, timeout=SECONDS)

    def answer(prompt: str) -> str:
        barrier.wait()
        return prompt.upper()

    return answer


EIGHT = views(*"abcdefgh")


@pytest.mark.parametrize("count", [2, 4, 8])
def test_as_many_are_in_flight_as_the_engine_says_and_never_more(tmp_path: Path, count: int) -> None:
    engine, watch = Crowd(count, together(count)), Watch()
    with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
        found = ask(EIGHT, engine, journal, watch)
        assert len(journal) == journal.appended == 8

    assert engine.most == count
    assert watch.started == (8, 0)
    assert watch.finished
    assert sorted("ABCDEFGH") == sorted(watch.answers)
    assert_frame_equal(ask(EIGHT, Crowd(1), Memory()).responses, found.responses)


def test_one_at_a_time_stays_in_the_thread_that_asks() -> None:
    """So that Ctrl-C interrupts a computation of ours as ever."""
    engine = Crowd(1)
    ask(EIGHT, engine, Memory())

    assert engine.most == 1
    assert {threading.current_thread()} == engine.threads
    assert engine.asked == list("abcdefgh")


@given(
    prompts=st.lists(st.sampled_from("abcde"), max_size=12),
    known=st.sets(st.sampled_from("abcde")),
    count=st.integers(1, 5),
)
def test_each_prompt_is_asked_once_and_the_table_is_the_same(prompts: list[str], known: set[str], count: int) -> None:
    """Whatever the journal knows, however many views share a prompt."""
    journal, engine, watch = Memory(), Crowd(count), Watch()
    ask(views(*sorted(known)), Crowd(1), journal)
    found = ask(views(*prompts), engine, journal, watch)

    assert sorted(set(prompts) - known) == sorted(engine.asked)
    assert [prompt.upper() for prompt in prompts] == found.responses["text"].to_list()
    assert [prompt not in known for prompt in prompts] == found.telemetry["asked"].to_list()
    assert watch.started == (len(prompts), sum(prompt in known for prompt in prompts))
    assert sorted(prompt.upper() for prompt in prompts if prompt not in known) == sorted(watch.answers)


def test_each_answer_is_in_the_journal_before_its_thread_asks_again() -> None:
    journal = Memory()
    unkept: list[int] = []
    lock = threading.Lock()
    asked = 0

    def answer(prompt: str) -> str:
        nonlocal asked
        with lock:
            asked += 1
            unkept.append(asked - len(journal.kept))
        return prompt.upper()

    ask(views(*map(str, range(200))), Crowd(3, answer), journal)

    assert max(unkept) <= 3


@pytest.mark.parametrize("error", [ModelError("the server is gone"), RuntimeError("unforeseen")])
def test_the_first_failure_stops_the_asking_and_what_is_in_flight_is_kept(error: Exception) -> None:
    everyone, failed = threading.Barrier(3, timeout=SECONDS), threading.Event()

    def answer(prompt: str) -> str:
        everyone.wait()
        if prompt == "a":
            failed.set()
            raise error
        failed.wait(SECONDS)
        time.sleep(0.05)
        return prompt.upper()

    engine, journal, watch = Crowd(3, answer), Memory(), Watch()
    with pytest.raises(type(error), match=str(error)):
        ask(EIGHT, engine, journal, watch)

    assert sorted(engine.asked) == ["a", "b", "c"]
    assert sorted(answer.text for answer in journal.kept.values()) == ["B", "C"]
    assert watch.finished


def test_a_journal_that_cannot_be_written_stops_the_asking() -> None:
    class Full(Memory):
        def append(self, *_: object) -> None:
            raise JournalError("No space left")

    engine = Crowd(2, together(2))
    with pytest.raises(JournalError, match="No space left"):
        ask(EIGHT, engine, Full())

    assert len(engine.asked) == 2


def interrupt() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_an_interruption_loses_nothing_that_arrives_in_time(tmp_path: Path) -> None:
    everyone, watch = threading.Barrier(3, timeout=SECONDS), Watch()

    def answer(prompt: str) -> str:
        everyone.wait()
        if prompt == "a":
            interrupt()
        time.sleep(NOTICED)
        return prompt.upper()

    engine = Crowd(3, answer)
    with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
        with pytest.raises(KeyboardInterrupt):
            ask(EIGHT, engine, journal, watch)
        assert journal.appended == 3

    assert watch.finished
    assert sorted(engine.asked) == ["a", "b", "c"]
    with Journal.open(tmp_path, "all", wait_seconds=0) as journal:
        assert ask(EIGHT, Crowd(3), journal).summary()["asked"] == 5


def test_an_interruption_does_not_wait_for_ever_and_nothing_is_kept_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal is closed by then, and its file may be another one's."""
    monkeypatch.setattr(asking, "GRACE_SECONDS", 2 * NOTICED)
    everyone, release = threading.Barrier(2, timeout=SECONDS), threading.Event()

    def answer(prompt: str) -> str:
        everyone.wait()
        if prompt == "a":
            interrupt()
            time.sleep(NOTICED)
            return "A"
        release.wait(SECONDS)
        return prompt.upper()

    engine, watch, journal = Crowd(2, answer), Watch(), Memory()
    with pytest.raises(KeyboardInterrupt):
        ask(EIGHT, engine, journal, watch)
    assert [answer.text for answer in journal.kept.values()] == ["A"]

    release.set()
    for thread in engine.threads:
        thread.join(SECONDS)
    assert len(journal.kept) == 1
    assert watch.answers == ["A"]


def test_a_second_interruption_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "GRACE_SECONDS", 60)
    release, first = threading.Event(), threading.Event()

    def answer(prompt: str) -> str:
        if prompt == "a":
            interrupt()
            first.set()
            time.sleep(NOTICED)
            interrupt()
        release.wait(SECONDS)
        return prompt.upper()

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ask(EIGHT, Crowd(2, answer), Memory())
    assert time.monotonic() - started < SECONDS / 2
    assert first.is_set()
    release.set()


class Napping(Crowd):
    """Some of its requests only sleep until it is interrupted, others are in flight."""

    def __init__(self, in_flight: int, answer: Callable[[str], str], sleepy: str) -> None:
        super().__init__(in_flight, answer)
        self.woken = threading.Event()
        self._sleepy = sleepy

    def interrupt(self) -> None:
        self.woken.set()

    def complete(self, request: Request) -> Completion:
        if request.prompt not in self._sleepy:
            return super().complete(request)
        self.woken.wait(SECONDS)
        raise ModelError("stopped while waiting")


def test_an_interruption_wakes_what_only_sleeps_and_then_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    engine = Napping(4, str.upper, "bcdefgh")
    threading.Timer(0.05, interrupt).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ask(EIGHT, engine, Memory())

    assert time.monotonic() - started < SECONDS / 4
    assert engine.woken.is_set()
    assert caplog.messages == []


def tell_and_release() -> tuple[list[str], threading.Event, Callable[[str], None]]:
    """A notice, the lines that it was told, and what is set by the first."""
    lines: list[str] = []
    told = threading.Event()

    def notice(line: str) -> None:
        lines.append(line)
        told.set()

    return lines, told, notice


def questions(*prompts: str) -> list[asking.OpenQuestion]:
    sampling = Sampling(temperature=0, top_k=1, top_p=1, seed=7)
    requests = [Request(prompt=prompt, max_tokens=24, sampling=sampling) for prompt in prompts]
    return [asking.OpenQuestion(request=request, digest=request.prompt, views=1) for request in requests]


@pytest.mark.parametrize(("count", "waiting"), [(1, "1 answer"), (2, "2 answers")])
def test_an_interruption_says_for_what_it_waits_and_how_long(count: int, waiting: str) -> None:
    lines, told, notice = tell_and_release()
    everyone = threading.Barrier(count, timeout=SECONDS)

    def answer(prompt: str) -> str:
        everyone.wait()
        if prompt == "a":
            interrupt()
        told.wait(SECONDS)
        return prompt.upper()

    journal, engine = Memory(), Napping(4, answer, "abcd"[count:])
    with pytest.raises(KeyboardInterrupt):
        asking.ask(questions(*"abcd"), engine, journal, Watch(), notice=notice)

    assert lines == [f"waiting up to 10 s for {waiting} in flight; Ctrl-C again stops now"]
    assert sorted("ab"[:count]) == sorted(journal.kept)


def test_a_failure_wakes_what_only_sleeps_and_says_for_what_it_waits() -> None:
    """The failure that came first is the one that is reported."""
    lines, told, notice = tell_and_release()
    everyone = threading.Barrier(2, timeout=SECONDS)

    def answer(prompt: str) -> str:
        everyone.wait()
        if prompt == "a":
            raise ModelError("refused")
        told.wait(SECONDS)
        return prompt.upper()

    journal, engine = Memory(), Napping(4, answer, "cd")
    with pytest.raises(ModelError, match=r"^refused$"):
        asking.ask(questions(*"abcd"), engine, journal, Watch(), notice=notice)

    assert lines == ["A request failed: waiting for 1 answer in flight; Ctrl-C ends that"]
    assert list(journal.kept) == ["b"]
