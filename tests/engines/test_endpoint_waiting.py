"""Whoever watches is told of each wait, and no wait holds a job that is stopped."""

import re
import threading
import time
from typing import Any

import pytest

from fake_endpoint import FakeEndpoint, Reply, endpoint_settings, refusal, request, said, server
from samequantity.engines.endpoint import engine
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.engines.endpoint.waiting import Patience
from samequantity.engines.opening import engine_identity
from samequantity.errors import ModelError

__all__ = ["server"]

SECONDS = 10
VARIABLE, KEY = "TINY_SERVER_KEY", "sk-tiny/0123456789+abc="


def told(server: FakeEndpoint, **changes: Any) -> list[str]:
    """The lines about the waits before the server's next answer."""
    lines: list[str] = []
    patience = Patience(sleep=lambda _, __: None, notice=lines.append)
    with EndpointEngine(endpoint_settings(server.url, **changes), patience=patience) as opened:
        opened.complete(request())
    return lines


def test_each_wait_is_told_with_its_reason_its_length_and_the_next_attempt(server: FakeEndpoint) -> None:
    server.will(refusal(429, "slow down", Retry_After="999999999"), Reply(body=b"{"), refusal(503, "busy"))
    first, second, third = told(server, attempts=6)

    chat = f"{server.url}/chat/completions"
    assert first == f"{chat}: status 429: slow down; waiting 300 s (attempt 2 of 6)"
    assert second.startswith(f"{chat}: status 200, but not the JSON we need (it is no JSON): {{; waiting ")
    assert second.endswith("(attempt 3 of 6)")
    assert re.search(r"status 503: busy; waiting [45] s \(attempt 4 of 6\)$", third)


def test_a_listing_is_waited_for_with_a_word_too(
    server: FakeEndpoint, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where only the model's identity is wanted: that may take as long."""
    monkeypatch.setattr(engine, "Patience", lambda: Patience(sleep=lambda _, __: None))
    server.models = refusal(500)
    with pytest.raises(ModelError):
        engine_identity(endpoint_settings(server.url, attempts=2), None, None)

    (line,) = caplog.messages
    assert "/models: status 500: no; waiting" in line


def test_nothing_waits_after_the_last_attempt(server: FakeEndpoint) -> None:
    server.usual = refusal(500)
    lines: list[str] = []
    patience = Patience(sleep=lambda _, __: None, notice=lines.append)
    with (
        EndpointEngine(endpoint_settings(server.url, attempts=3), patience=patience) as opened,
        pytest.raises(ModelError, match="no answer in 3 attempts"),
    ):
        opened.complete(request())

    assert len(lines) == 2


def test_a_line_about_a_wait_is_short_printable_and_without_the_key(
    server: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    server.will(lambda asked: refusal(500, f"\x1b[31m{asked.headers['Authorization'][:-4]}{'x' * 1000}"))
    (line,) = told(server, api_key=VARIABLE)

    assert line.isprintable()
    assert KEY[:8] not in line
    assert len(line) < 300


def test_an_interrupted_engine_wakes_what_sleeps_and_asks_nothing_again(server: FakeEndpoint) -> None:
    lines: list[str] = []
    asleep = threading.Event()

    def tell(line: str) -> None:
        lines.append(line)
        asleep.set()

    server.usual = refusal(429, Retry_After="100")
    opened = EndpointEngine(endpoint_settings(server.url), patience=Patience(notice=tell))
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            opened.complete(request())
        except ModelError as error:
            failures.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert asleep.wait(SECONDS)
    started = time.monotonic()
    opened.interrupt()
    thread.join(SECONDS)

    assert time.monotonic() - started < SECONDS / 2
    assert len(server.chats) == 1
    assert [f"{server.url}: stopped while waiting for another attempt."] == [str(error) for error in failures]

    with opened, pytest.raises(ModelError, match="stopped while waiting"):
        opened.complete(request("another?"))
    assert len(server.chats) == 2
    assert len(lines) == 1, "what does not wait is not announced"


def test_an_answer_that_is_on_its_way_is_taken_by_an_interrupted_engine(server: FakeEndpoint) -> None:
    arrived = threading.Event()

    def reply(_: object) -> Reply:
        arrived.set()
        return Reply(body=said().body, delay=0.1)

    server.usual = reply
    with EndpointEngine(endpoint_settings(server.url)) as opened:
        threading.Thread(target=lambda: arrived.wait(SECONDS) and opened.interrupt()).start()

        assert opened.complete(request()).text == "FINAL: 6.25 liters"
