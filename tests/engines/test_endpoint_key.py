"""Whatever a server does, the key is in the one header that is meant for it and nowhere else."""

import base64
import html
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_endpoint import (
    MODEL,
    Asked,
    FakeEndpoint,
    Reply,
    answer,
    endpoint_settings,
    engine,
    failure,
    listing,
    refusal,
    request,
    said,
    server,
    serving,
)
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.engines.endpoint.key import Key
from samequantity.errors import ModelError

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
    "last characters blotted out": lambda asked: refusal(400, f"{asked.headers['Authorization'][:-4]}****").body,
    "most of it cut off": lambda asked: refusal(400, f"{asked.headers['Authorization'][:-12]}…").body,
    "as in a URL": lambda asked: quote(asked.headers["Authorization"], safe="").encode(),
    "as in base64": lambda asked: base64.b64encode(asked.headers["Authorization"].encode()),
    "broken off in escapes": lambda asked: b'{"error": {"message": ' + escaped(asked.headers["Authorization"])[:-1],
    "JSON in JSON": lambda asked: json.dumps({"error": escaped(asked.headers["Authorization"]).decode()}).encode(),
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

    for text in (KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode()):
        assert not any(text[start : start + 6] in message for start in range(len(text) - 5))
    assert escaped(KEY[:2]).decode().strip('"') not in message
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
    assert kept.count("[key]") == 9


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


KEYS = st.text(
    st.sampled_from([chr(code) for code in range(33, 127) if chr(code) not in "\"'\\\\"]), min_size=8, max_size=60
)
SPELLINGS: list[Callable[[str], str]] = [
    str,
    html.escape,
    lambda key: quote(key, safe=""),
    lambda key: quote(quote(key, safe=""), safe=""),
    lambda key: json.dumps(json.dumps(escaped(key).decode())),
    lambda key: "".join(f"&#{ord(sign)};" for sign in key),
    lambda key: "".join(f"&#X{ord(sign):04X};" for sign in key),
    lambda key: "".join(f"\\x{ord(sign):02x}" for sign in key),
]


@settings(max_examples=40)
@given(key=KEYS, spell=st.sampled_from(SPELLINGS), least=st.integers(8, 60))
def test_a_key_or_its_beginning_is_found_however_it_is_spelt(key: str, spell: Callable[[str], str], least: int) -> None:
    """Nothing of it is left but the signs that stood around it."""
    hidden = Key(key).hidden(f"<{spell(key[: max(8, least)])}>")

    assert hidden.replace("[key]", "").strip('<>"\\') == ""
    assert "[key]" in hidden


@settings(max_examples=40)
@given(key=KEYS, before=st.binary(max_size=7), after=st.binary(max_size=7), alternative=st.booleans())
def test_a_key_in_base64_is_found_between_any_bytes(key: str, before: bytes, after: bytes, alternative: bool) -> None:
    """Of each neighbour at most the characters that it shares with the key are left."""
    encode = base64.urlsafe_b64encode if alternative else base64.b64encode
    hidden = Key(key).hidden(encode(before + key.encode() + after).decode())

    assert "[key]" in hidden
    assert len(hidden.replace("[key]", "").rstrip("=")) <= len(before + after) * 4 / 3 + 4


@settings(max_examples=40)
@given(key=KEYS, size=st.integers(0, 7))
def test_less_than_eight_characters_of_a_key_are_left(key: str, size: int) -> None:
    assert Key(key).hidden(f" {key[:size]} ") == f" {key[:size]} "


def test_a_word_with_which_a_key_begins_is_left_in_an_answer(
    server: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But not most of a key, however it is spelt, nor a key that is a number."""
    monkeypatch.setenv(VARIABLE, "quantity-0123456789-0123456789")
    server.usual = said("The quantity-0 is quantity-0123456789-0123… or quantity%2d0123456789-0123456789")
    assert answer(server, api_key=VARIABLE).text == "The quantity-0 is [key]… or [key]"

    monkeypatch.setenv(VARIABLE, "0123456789"[::-1])
    server.usual = said(message={"number": 9876543210, "others": [True, 1, 2.5, None]})
    assert json.loads(answer(server, api_key=VARIABLE).raw)["number"] == "[key]"
    assert json.loads(answer(server, api_key=VARIABLE).raw)["others"] == [True, 1, 2.5, None]


def test_a_server_cannot_make_the_search_slow() -> None:
    key = Key(KEY)
    for text in ("\\" * 300_000, "%25" * 100_000, "&amp;" * 60_000, "&#0" * 100_000, KEY[:7] * 40_000):
        assert key.hidden(text) == text


@pytest.mark.parametrize(
    "changes",
    [
        {"extra": {"user": KEY}},
        {"extra": {"user": quote(KEY, safe="")}},
        {"extra": {"nested": [{"user": base64.b64encode(KEY.encode()).decode()}]}},
        {"model": KEY},
    ],
)
def test_a_key_that_stands_in_the_settings_too_is_refused(
    server: FakeEndpoint, key: str, changes: dict[str, Any]
) -> None:
    message = failure(server, api_key=key, **changes)

    assert "stands in the settings" in message
    assert KEY not in message
    assert server.asked == []


def test_a_key_in_the_path_of_the_address_is_refused(server: FakeEndpoint, key: str) -> None:
    for written in (KEY, quote(KEY, safe="")):
        with pytest.raises(ModelError, match="stands in the settings") as refused:
            EndpointEngine(endpoint_settings(f"{server.url}/{written}", api_key=key))
        assert KEY not in str(refused.value)
        assert quote(KEY, safe="") not in str(refused.value)
    assert server.asked == []
