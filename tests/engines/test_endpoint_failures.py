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
        (format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True), 30, 60),
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
        (401, "set api_key to the NAME of that variable"),
        (403, "set api_key to the NAME of that variable"),
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

    assert "/models: no answer in 4 attempts; the last one: status 200, but" in failure(server)
