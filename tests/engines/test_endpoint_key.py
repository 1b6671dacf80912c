"""Whatever a server does, the key is in the one header that is meant for it and nowhere else."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from fake_endpoint import (
    MODEL,
    Asked,
    FakeEndpoint,
    Reply,
    answer,
    engine,
    failure,
    listing,
    refusal,
    request,
    said,
    server,
    serving,
)

__all__ = ["server"]

VARIABLE, KEY = "TINY_SERVER_KEY", "sk-tiny/0123456789+abc="


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, KEY)
    return VARIABLE


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("place", ["models", "usual"])
def test_a_redirect_is_not_followed_so_that_no_key_goes_along(
    server: FakeEndpoint, key: str, status: int, place: str
) -> None:
    with serving() as other:
        setattr(server, place, Reply(status=status, headers={"Location": f"{other.url}/chat/completions"}))
        message = failure(server, api_key=key)

    assert other.asked == []
    assert f"status {status}, {other.url}" in message
    assert "Set url to the final address" in message


def test_the_key_goes_into_one_header_and_nowhere_else(server: FakeEndpoint, key: str) -> None:
    with engine(server, api_key=key) as opened:
        opened.complete(request())
        facts = repr((opened.identity(), opened.host_facts(), vars(opened), opened._client.key))

    assert {f"Bearer {KEY}"} == {asked.headers["Authorization"] for asked in server.asked}
    assert all(KEY not in repr((asked.body, asked.path)) for asked in server.asked)
    assert KEY not in facts
    assert VARIABLE not in json.dumps(opened.identity())


def echo(status: int, form: Callable[[Asked], bytes]) -> Callable[[Asked], Reply]:
    return lambda asked: Reply(status=status, body=form(asked))


def escaped(text: str) -> bytes:
    """As JSON that writes every character by its number."""
    return b'"' + "".join(f"\\u{ord(character):04x}" for character in text).encode() + b'"'


ECHOES: dict[str, Callable[[Asked], bytes]] = {
    "error": lambda asked: refusal(400, f"wrong: {asked.headers['Authorization']}").body,
    "text": lambda asked: asked.headers["Authorization"].encode(),
    "cut short": lambda asked: b"x" * 280 + asked.headers["Authorization"].encode(),
    "escaped": lambda asked: b'{"error": {"message": ' + escaped(asked.headers["Authorization"]) + b"}}",
    "escaped elsewhere": lambda asked: b'{"fault": ' + escaped(asked.headers["Authorization"]) + b"}",
    "slashes escaped": lambda asked: json.dumps({"fault": asked.headers["Authorization"]}).replace("/", r"\/").encode(),
    "name": lambda asked: json.dumps({asked.headers["Authorization"]: 1}).encode(),
}


@pytest.mark.parametrize("form", ECHOES)
@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
@pytest.mark.parametrize("place", ["models", "usual"])
def test_a_key_that_the_server_repeats_is_in_no_message(
    server: FakeEndpoint, key: str, place: str, status: int, form: str
) -> None:
    setattr(server, place, echo(status, ECHOES[form]))

    message = failure(server, api_key=key, attempts=2)

    assert not any(KEY[start : start + 6] in message for start in range(len(KEY) - 5))
    assert f"status {status}" in message
    assert status != 401 or VARIABLE in message


def test_a_key_that_the_server_repeats_is_in_no_answer(server: FakeEndpoint, key: str) -> None:
    server.models = lambda asked: listing(MODEL, owned_by=asked.headers["Authorization"])
    server.usual = lambda asked: said(
        asked.headers["Authorization"],
        f"stop {KEY}",
        message={"reasoning": KEY, KEY: KEY},
        system_fingerprint=f"fp {KEY}",
    )
    with engine(server, api_key=key) as opened:
        kept = repr((opened.complete(request()), opened.identity(), opened.host_facts()))

    assert KEY not in kept
    assert kept.count("[key]") == 10


def test_a_key_that_is_repeated_in_escapes_is_in_no_answer_either(server: FakeEndpoint, key: str) -> None:
    plain = said(KEY, message={KEY: [KEY]}).body
    server.usual = Reply(body=plain.replace(KEY.encode(), escaped(KEY)[1:-1]))
    completion = answer(server, api_key=key)

    assert completion.text == "[key]"
    assert completion.raw == '{"[key]":["[key]"],"content":"[key]","role":"assistant"}'


def test_a_redirect_that_repeats_the_key_does_not_show_it(server: FakeEndpoint, key: str) -> None:
    server.usual = Reply(status=302, headers={"Location": f"https://elsewhere.example.org/{KEY}"})

    assert KEY not in failure(server, api_key=key)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "is not set"),
        ("", "is not set"),
        ("short", "holds no key"),
        ("sk-0123\n456789", "holds no key"),
        ("sk-0123456789é", "holds no key"),
        ("sk 0123456789", "holds no key"),
        ('sk-"0123456789"', "holds no key"),
    ],
)
def test_a_key_that_is_none_is_named_by_its_variable(
    server: FakeEndpoint, monkeypatch: pytest.MonkeyPatch, value: str | None, message: str
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)

    told = failure(server, api_key=VARIABLE)
    assert VARIABLE in told
    assert message in told
    assert not value or value not in told
    assert server.asked == []


@pytest.mark.parametrize("changes", [{"extra": {"user": KEY}}, {"model": KEY}])
def test_a_key_that_stands_in_the_settings_too_is_refused(
    server: FakeEndpoint, key: str, changes: dict[str, Any]
) -> None:
    message = failure(server, api_key=key, **changes)

    assert "stands in the settings" in message
    assert KEY not in message
    assert server.asked == []
