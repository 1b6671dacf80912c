"""What a server does wrong is tried again where that may help, and else reported once with the cure."""

import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from fake_endpoint import (
    MODEL,
    FakeEndpoint,
    Reply,
    answer,
    at_once,
    endpoint_settings,
    failure,
    listing,
    refusal,
    said,
    server,
)
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.errors import ModelError

__all__ = ["server"]

HTML = Reply(body=b"<html>Welcome</html>")
BROKEN = Reply(body=said().body, broken=True)


@pytest.mark.parametrize(
    "bad",
    [
        refusal(429),
        refusal(408),
        refusal(500),
        refusal(502),
        refusal(503),
        BROKEN,
        HTML,
        Reply(body=b""),
        Reply(body=b"{}"),
        Reply(body=b"null"),
        Reply(body=b"[" * 100_000),
        Reply(body=b'{"choices": [NaN]}'),
        said(choices=[]),
        said(choices=None),
        said(choices=[{"text": "old interface"}]),
        said(["parts"]),
        Reply(body='{"choices": [{"message": {"content": "é"}}]}'.encode("latin-1")),
        Reply(body=b"\xff\xfe" + said().body),
        Reply(body=b'{"choices": [{"message": {"content": "1", "content": "2"}, "finish_reason": "stop"}]}'),
        Reply(body=b'{"choices": [{"message": {"content": "1"}, "finish_reason": "stop", "finish_reason": "length"}]}'),
    ],
)
def test_what_may_pass_is_tried_again_and_then_reported(server: FakeEndpoint, bad: Reply) -> None:
    waits: list[float] = []
    server.will(bad, bad)

    assert answer(server, patience=at_once(waits)).text == "FINAL: 6.25 liters"
    assert len(server.chats) == 3
    assert 1 <= waits[0] <= 2 <= waits[1] <= 3, "exponential, with jitter"

    server.will(*[bad] * 4)
    assert "/chat/completions: no answer in 4 attempts; the last one: " in failure(server)
    assert len(server.chats) == 7


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('{"choices": "é"}'.encode("latin-1"), "it is not in UTF-8"),
        (b'{"choices": [], "choices": []}', "a field stands in it twice"),
        (b"welcome", "it is no JSON"),
        (b"{}", "it has no choices[0].message"),
    ],
)
def test_it_is_said_why_an_answer_is_none(server: FakeEndpoint, body: bytes, reason: str) -> None:
    server.usual = Reply(body=body)

    assert f"status 200, but not the JSON we need ({reason}): " in failure(server, attempts=1)


def test_a_broken_connection_is_no_end_of_an_answer(server: FakeEndpoint) -> None:
    """Half of a JSON text that is JSON, too, would be the worst."""
    server.will(Reply(body=said("FINAL: 1 liters").body + b" " * 1000, broken=True))

    assert answer(server).text == "FINAL: 6.25 liters"


@pytest.mark.parametrize("slow", [Reply(body=said().body, delay=0.3), Reply(body=said().body, dribble=0.01)])
def test_an_answer_has_a_time_limit_however_it_comes(server: FakeEndpoint, slow: Reply) -> None:
    server.will(slow)
    assert answer(server, timeout=0.1).text == "FINAL: 6.25 liters"
    assert len(server.chats) == 2

    server.will(slow)
    assert "raise timeout or attempts" in failure(server, timeout=0.1, attempts=1)


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    waits: list[float] = []

    with pytest.raises(
        ModelError, match=rf"127\.0\.0\.1:{port}/v1/models: no answer in 4 .*ConnectError.*Is the server up"
    ):
        EndpointEngine(endpoint_settings(f"http://127.0.0.1:{port}/v1"), patience=at_once(waits))
    assert len(waits) == 3


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("7", 7, 7),
        ("0.25", 1, 2),
        ("100000", 300, 300),
        ("999999999999", 300, 300),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 300, 300),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 1, 2),
        ("Mon, 01 Jan 2001 00:00:00", 1, 2),
        ("soon", 1, 2),
        ("-5", 1, 2),
    ],
)
def test_the_server_says_how_long_to_wait_within_bounds(
    server: FakeEndpoint, header: str, least: float, most: float
) -> None:
    waits: list[float] = []
    server.will(refusal(429, Retry_After=header))
    answer(server, patience=at_once(waits))

    assert len(waits) == 1
    assert least <= waits[0] <= most


def test_the_server_may_name_a_time_instead(server: FakeEndpoint) -> None:
    waits: list[float] = []
    then = datetime.now(UTC) + timedelta(seconds=60)
    server.will(refusal(429, Retry_After=format_datetime(then, usegmt=True)))
    answer(server, patience=at_once(waits))

    assert 30 <= waits[0] <= 60


def test_waiting_grows_to_a_bound(server: FakeEndpoint) -> None:
    waits: list[float] = []
    server.will(*[refusal(503)] * 11)
    answer(server, attempts=12, patience=at_once(waits))

    assert waits == sorted(waits)
    assert max(waits) == 60


@pytest.mark.parametrize(
    ("status", "cure"),
    [
        (400, "name that in omit, or change token_cap or extra"),
        (404, "It lists: tiny, other."),
        (413, "lower max_tokens"),
        (422, "name that in omit"),
        (501, "name that in omit"),
        (204, "name that in omit"),
    ],
)
def test_what_does_not_pass_is_asked_once_and_reported_with_the_cure(
    server: FakeEndpoint, status: int, cure: str
) -> None:
    server.models = listing(MODEL, "other")
    server.usual = refusal(status, "Unsupported parameter:\n'top_k'") if status != 204 else Reply(status=204)
    message = failure(server)

    assert len(server.chats) == 1
    assert f"{server.url}: status {status}, " in message
    assert status == 204 or "Unsupported parameter: 'top_k'" in message
    assert cure in message


@pytest.mark.parametrize("status", [401, 403])
def test_of_a_refused_key_the_status_and_the_cure_are_told_and_no_word_of_the_servers(
    server: FakeEndpoint, status: int
) -> None:
    server.usual = refusal(status, "Incorrect key: sk-012*****")

    assert failure(server) == (
        f"{server.url}: status {status}. Put a key into an environment variable and set api_key to the NAME of that"
        " variable."
    )
    assert len(server.chats) == 1


CONTROL = "\0 \x1b[2J \x1b]0;title\x07 \x9b1m \u202eright \u2028 \r\n \x7f end"
ESCAPED = r"\x00 \x1b[2J \x1b]0;title\x07 \x9b1m \u202eright \x7f end"


@pytest.mark.parametrize("body", [CONTROL.encode(), json.dumps({"error": CONTROL}).encode()])
@pytest.mark.parametrize("status", [200, 400, 404, 500])
def test_nothing_that_a_server_says_is_obeyed_by_a_terminal(server: FakeEndpoint, status: int, body: bytes) -> None:
    server.usual = Reply(status=status, body=body)
    message = failure(server, attempts=1)

    assert all(line.isprintable() for line in message.splitlines())
    assert ESCAPED in message or json.dumps({"error": CONTROL}).encode() == body, (
        "JSON that is no error is shown as JSON"
    )


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "wrong"}},
        {"error": "wrong"},
        {"message": "wrong"},
        {"detail": "wrong"},
        {"errors": ["wrong"]},
        "wrong",
    ],
)
def test_an_error_is_reported_in_the_servers_words_however_it_says_them(server: FakeEndpoint, body: Any) -> None:
    server.usual = Reply(status=400, body=json.dumps(body).encode())
    assert "status 400, " in failure(server)
    assert "wrong" in failure(server)

    server.usual = Reply(status=400, body=b"x" * 10_000)
    assert len(failure(server)) < 1000


@pytest.mark.parametrize(
    "models",
    [
        HTML,
        Reply(body=b'{"data": {}}'),
        Reply(body=b'{"data": [7]}'),
        Reply(body=b'{"data": [{"id": "tiny", "root": NaN}]}'),
    ],
)
def test_a_page_in_the_place_of_a_listing_is_no_server_of_this_kind(server: FakeEndpoint, models: Reply) -> None:
    server.models = models

    assert "/models: no answer in 4 attempts; the last one: status 200, but not the JSON we need" in failure(server)
