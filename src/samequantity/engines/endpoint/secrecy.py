"""Looks for a key or a password among settings that are written down, where everybody reads them."""

import re
from collections.abc import Iterator
from typing import Any

_SURE = ("authoriz", "authentic", "password", "passwd", "passphrase", "secret", "credential", "bearer")
_SURE_TOGETHER = ("apikey", "accesskey", "privatekey", "accesstoken", "authtoken", "refreshtoken")
"""What a name contains, with or without signs between its words, that is the name of a secret whatever it holds."""

_WORDS = frozenset({"auth", "token", "key", "keys", "pwd", "cookie", "cookies", "jwt"})
"""Words of names of secrets, and of other things: `stop_token_ids` holds numbers, a secret is a text."""

_HARMLESS = frozenset({"bos_token", "eos_token", "pad_token", "unk_token", "stop_token", "prompt_cache_key"})
"""Names with such a word that servers do know."""

_LARGEST_TOKEN = 10_000_000
"""No vocabulary has so many tokens: a larger number is none of them."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", re.ASCII)
_SECRET_VALUE = re.compile(r"\s*(?:(?:bearer|basic)\s+\S|(?:sk|pk|gsk|hf|xai|nvapi)[-_][\w-]{16})", re.ASCII | re.I)
_SHOWABLE = re.compile(r"[A-Za-z_-]{1,40}", re.ASCII)


def secret_in(value: Any) -> str | None:
    """What gives a secret away in a JSON value, however deep, in words that hold no value; None when nothing does."""
    return next(_found(value), None)


def _found(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, item in value.items():
                if _is_secret_value(str(name)):
                    yield "a name that looks like a key"
                elif _names_secret(str(name), item):
                    yield f"the name {name}" if _SHOWABLE.fullmatch(str(name)) else "the name of one"
                yield from _found(item)
        case list() | tuple():
            for item in value:
                yield from _found(item)
        case str() if _is_secret_value(value):
            yield 'a text that begins as keys do, with "Bearer " for one'


def _names_secret(name: str, value: Any) -> bool:
    if any(part in name.lower() for part in _SURE):
        return True
    if any(part in re.sub(r"[^a-z]", "", name.lower()) for part in _SURE_TOGETHER):
        return True
    words = {word.lower() for word in _WORD.findall(name)}
    return bool(words & _WORDS) and name not in _HARMLESS and _holds_secret(value)


def _holds_secret(value: Any) -> bool:
    match value:
        case str():
            return bool(value.strip())
        case dict():
            return any(_holds_secret(item) for item in value.values())
        case list() | tuple():
            return any(_holds_secret(item) for item in value)
        case int():
            return value > _LARGEST_TOKEN
    return False


def _is_secret_value(text: str) -> bool:
    return _SECRET_VALUE.match(text) is not None
