"""A server's key: read from the environment, sent in one header, and taken out of whatever comes back."""

import os
import re
from typing import Any

from samequantity.engines.endpoint.traces import MASK, Traces
from samequantity.errors import ModelError

SHORTEST_KEY = 8
"""A shorter key is likely to occur in an answer, where it would be taken for an echo."""

_KEY = re.compile(r"[!-~]+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Key:
    """A key, or none, that shows itself in the one header that is meant for it and nowhere else."""

    __slots__ = ("_beginnings", "_echoes", "_value")

    def __init__(self, value: str | None) -> None:
        self._value = value
        if value is not None:
            self._beginnings = Traces.of(value, least=SHORTEST_KEY)
            self._echoes = Traces.of(value, least=max(SHORTEST_KEY, len(value) * 3 // 4))

    @classmethod
    def from_environment(cls, name: str | None) -> "Key":
        """The value of the variable `name`. ModelError, which names the variable alone, when it is of no use."""
        if name is None:
            return cls(None)
        value = os.environ.get(name, "")
        if not value:
            raise ModelError(f"The environment variable {name} is to hold the server's key and is not set. Export it.")
        if len(value) < SHORTEST_KEY or not _KEY.fullmatch(value) or set(value) & set("\"'\\"):
            raise ModelError(
                f"The environment variable {name} holds no key: wanted are {SHORTEST_KEY} or more visible ASCII"
                " characters without quotes, blanks or line ends. Set it again."
            )
        return cls(value)

    @property
    def headers(self) -> dict[str, str]:
        """The one header."""
        return {} if self._value is None else {"Authorization": f"Bearer {self._value}"}

    def hidden(self, text: str) -> str:
        """A text for a message, with something else in the place of the key and of each beginning of it.

        Beginnings of `SHORTEST_KEY` or more characters, however they are spelt (`Traces`).
        """
        return text if self._value is None else self._beginnings.hidden(text)

    def echoed(self, text: str) -> bool:
        """Whether the key, or most of it, stands in the text, however it is spelt."""
        return self._without_echoes(text) != text

    def cleaned(self, value: Any) -> Any:
        """A JSON value without echoes of the key and without halves of surrogate pairs, which no table could hold.

        An echo is most of the key: an answer is data, and a word with which a key happens to begin is left in it.
        """
        match value:
            case str():
                return _SURROGATE.sub("\ufffd", self._without_echoes(value))
            case int() if self.echoed(str(value)):  # a key may be a number
                return MASK
            case list():
                return [self.cleaned(item) for item in value]
            case dict():
                return {self.cleaned(name): self.cleaned(item) for name, item in value.items()}
        return value

    def _without_echoes(self, text: str) -> str:
        return text if self._value is None else self._echoes.hidden(text)
