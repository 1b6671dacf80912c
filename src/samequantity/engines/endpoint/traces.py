"""Finds a key in a text however it is spelt there: plain, in the escapes of URLs, HTML and JSON, or in base64."""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html.entities import html5
from typing import Final

MASK: Final = "[key]"

_UNSTABLE = (0, 2, 3)
"""Characters of base64 at its beginning that also depend on so many bytes before the key: none, one, two."""

_OTHER_BASE64 = {"+": "-", "/": "_"}
"""The alphabet of base64 for addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """Every spelling of a key, from its first `least` characters to its end or as far as it goes.

    A server that repeats a key likes to cut it short or to blot its last characters out.
    """

    spellings: "tuple[_Spelling, ...]"

    @classmethod
    def of(cls, key: str, *, least: int) -> "Traces":
        """Of an ASCII key of `least` or more characters."""
        plain = _Spelling.of(key, least=least, base64=False)
        return cls(spellings=(plain, *_base64_spellings(key, least)))

    def hidden(self, text: str) -> str:
        """The text with `MASK` in the place of each."""
        for spelling in self.spellings:
            text = spelling.hidden(text)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spelling:
    """A text whose characters may each be escaped."""

    beginning: re.Pattern[str]
    further: tuple[re.Pattern[str], ...]
    """One for each character."""

    @classmethod
    def of(cls, text: str, *, least: int, base64: bool) -> "_Spelling":
        """Of a text, the first `least` characters of which are its beginning."""
        return cls(
            beginning=re.compile("".join(_spelt(character, base64) for character in text[:least])),
            further=tuple(_character(character, base64) for character in text[least:]),
        )

    def hidden(self, text: str) -> str:
        """See `Traces`."""
        parts, done = [], 0
        while match := self.beginning.search(text, done):
            parts += [text[done : match.start()], MASK]
            done = self._end(text, match.end())
        return "".join([*parts, text[done:]]) if parts else text

    def _end(self, text: str, end: int) -> int:
        for character in self.further:
            match = character.match(text, end)
            if match is None:
                break
            end = match.end()
        return end


def _base64_spellings(key: str, least: int) -> Iterator[_Spelling]:
    """The key in base64 after any number of bytes: three texts, without the characters that also tell of neighbours."""
    for before, unstable in enumerate(_UNSTABLE):
        encoded = base64.b64encode(b"\0" * before + key.encode()).decode()
        whole, shortest = ((before + size) * 8 // 6 for size in (len(key), least))
        yield _Spelling.of(encoded[unstable:whole], least=shortest - unstable, base64=True)


@cache
def _character(character: str, base64: bool) -> re.Pattern[str]:
    return re.compile(_spelt(character, base64))


@cache
def _spelt(character: str, base64: bool) -> str:
    r"""A pattern for one character: itself, `%2f`, `\u002f`, `\x2f`, `\/`, `&#47;`, `&#x2F;` or `&sol;`.

    Also for what these become when they are escaped again.
    Each of its branches begins with a literal, so that a search leaps from one candidate to the next, and each repeat
    is bounded, so that a server cannot make it slow.
    """
    number, literal = ord(character), re.escape(character)
    hexadecimal = f"(?i:{number:02x})"
    names = "".join(f"|{name}" for name in sorted({n.rstrip(";") for n, meant in html5.items() if meant == character}))
    branches = [
        f"%(?:25){{0,3}}{hexadecimal}",
        rf"\\\\{{0,7}}(?:u00{hexadecimal}|x{hexadecimal}|{literal})",
        f"&(?:amp;){{0,3}}(?:#0{{0,6}}{number}|#[xX]0{{0,6}}{hexadecimal}{names});?",
        literal,
    ]
    if base64 and (other := _OTHER_BASE64.get(character)):
        branches.append(re.escape(other))
    return f"(?:{'|'.join(branches)})"
