"""A study asked of a server: as many requests as its settings say, nothing lost, and no key in any file."""

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fake_endpoint import (
    MODEL,
    Asked,
    FakeEndpoint,
    Reply,
    at_once,
    endpoint_settings,
    listing,
    refusal,
    said,
    server,
    serving,
)
from samequantity.domain.exchange import Completion
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.errors import ModelError
from samequantity.stages.infer import Decoding, Inference, infer
from samequantity.store.journal import Journal
from samequantity.store.tables import write_table

__all__ = ["server"]

SECONDS = 20
VARIABLE, KEY = "TINY_SERVER_KEY", "sk-tiny/0123456789+abc="


class Silence:
    """Progress that nobody watches."""

    def start(self, *, total: int, known: int) -> None: ...

    def answered(self, completion: Completion) -> None: ...

    def finish(self) -> None: ...


def views(count: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"view_id": [f"a-{n:04}/fraction" for n in range(count)], "prompt": [f"What is {n}/4?" for n in range(count)]}
    )


def ask(url: str, folder: Path, count: int, **changes: Any) -> Inference:
    settings = endpoint_settings(url, **changes)
    decoding = Decoding(max_tokens=settings.max_tokens, sampling=settings.sampling())
    with (
        Journal.open(folder, "all", wait_seconds=0) as journal,
        EndpointEngine(settings, patience=at_once(), notice=lambda _: None) as engine,
    ):
        return infer(views(count), engine, journal, system="tiny", decoding=decoding, progress=Silence())


def echoing(asked: Asked) -> Reply:
    return said(f"FINAL: {asked.prompt}")


@pytest.mark.parametrize("count", [1, 3])
def test_as_many_requests_are_in_flight_as_the_settings_say(server: FakeEndpoint, tmp_path: Path, count: int) -> None:
    together = threading.Barrier(count, timeout=SECONDS)

    def answer(asked: Asked) -> Reply:
        together.wait()
        return replace(echoing(asked), delay=0.02)

    server.usual = answer
    found = ask(server.url, tmp_path, 6, in_flight=count).responses

    assert server.most == count
    assert [f"FINAL: {prompt}" for prompt in views(6)["prompt"]] == found["text"].to_list()
    assert list(range(6)) == found["order"].to_list()


def test_the_table_is_the_same_however_many_are_in_flight(server: FakeEndpoint, tmp_path: Path) -> None:
    server.usual = echoing
    tables = [ask(server.url, tmp_path / str(count), 7, in_flight=count).responses for count in (1, 2, 7)]

    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


def test_several_in_flight_are_tried_again_each_for_itself(server: FakeEndpoint, tmp_path: Path) -> None:
    server.usual = echoing
    server.will(refusal(429), refusal(503), refusal(429, Retry_After="2"), refusal(500))

    assert ask(server.url, tmp_path, 6, in_flight=3, attempts=5).summary()["asked"] == 6
    assert len(server.chats) == 10


def test_a_refusal_stops_the_study_and_the_next_command_goes_on(server: FakeEndpoint, tmp_path: Path) -> None:
    server.usual = echoing
    server.will(echoing, echoing, refusal(401))
    with pytest.raises(ModelError, match="status 401"):
        ask(server.url, tmp_path, 5)
    assert len(server.chats) == 3

    assert ask(server.url, tmp_path, 5).summary()["asked"] == 3
    assert len(server.chats) == 6


def test_the_server_may_move_and_is_not_asked_again(server: FakeEndpoint, tmp_path: Path) -> None:
    ask(server.url, tmp_path, 2)
    with serving() as moved:
        assert ask(moved.url, tmp_path, 2, timeout=3, attempts=2).summary()["asked"] == 0
        moved.models = listing(MODEL, meta={"size": 7})
        assert ask(moved.url, tmp_path, 2).summary()["asked"] == 2


CHILD = """
import sys
from pathlib import Path
from test_endpoint_inference import ask
ask(sys.argv[1], Path(sys.argv[2]), 12, in_flight=3)
"""


def test_a_killed_job_has_every_answer_that_arrived_in_its_journal(server: FakeEndpoint, tmp_path: Path) -> None:
    held = threading.Event()

    def hold(asked: Asked) -> Reply:
        held.wait(SECONDS)
        return echoing(asked)

    server.will(*[echoing] * 6)
    server.usual = hold
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    child = subprocess.Popen([sys.executable, "-c", CHILD, server.url, str(tmp_path)], env={"PYTHONPATH": path})
    journal = tmp_path / "all.jsonl"
    deadline = time.monotonic() + SECONDS
    while len(server.chats) < 9 and time.monotonic() < deadline:  # six answered, three held
        time.sleep(0.01)
    child.kill()
    child.wait()
    held.set()

    answered = [asked.prompt for asked in server.chats[:6]]
    kept = [json.loads(line)["response"]["text"] for line in journal.read_text().splitlines()]
    assert sorted(f"FINAL: {prompt}" for prompt in answered) == sorted(kept)

    server.asked.clear()
    server.usual = echoing
    found = ask(server.url, tmp_path, 12, in_flight=3)
    assert found.summary()["asked"] == 6
    assert not set(answered) & {asked.prompt for asked in server.chats}
    assert [f"FINAL: {prompt}" for prompt in views(12)["prompt"]] == found.responses["text"].to_list()


def test_a_key_is_in_no_file_even_when_the_server_repeats_it(
    server: FakeEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    server.models = lambda asked: listing(MODEL, owned_by=asked.headers["Authorization"])
    server.usual = lambda asked: said(
        asked.headers["Authorization"], message={"reasoning": KEY, "extra": [KEY]}, system_fingerprint=KEY
    )
    found = ask(server.url, tmp_path / "journal", 3, api_key=VARIABLE)
    write_table(found.responses, tmp_path / "responses.jsonl")
    write_table(found.telemetry, tmp_path / "telemetry.jsonl")

    files = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert {f"Bearer {KEY}"} == {asked.headers["Authorization"] for asked in server.asked}
    assert len(files) == 4
    assert all(KEY not in text for text in files)
    assert "Bearer [key]" in "".join(files)
