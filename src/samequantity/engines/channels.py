"""Splits what a model generated into what it thought aloud and its answer. Pure functions of text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from samequantity.engines.settings import ReasoningFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """The final channel and the rest; "" where there is none.

    `cut` says that the response ends inside its reasoning: no end of the block, or no final channel, came after its
    beginning. In the harmony format, one that a mark ends for good (`<|return|>`, `<|call|>`) ended by itself.
    """

    text: str
    reasoning: str
    cut: bool = False


_TAGS = {ReasoningFormat.THINK: ("<think>", "</think>"), ReasoningFormat.BRACKET_THINK: ("[THINK]", "[/THINK]")}

# One message of the harmony format: <|channel|>analysis<|message|>Let me add.<|end|>
# The header also names a recipient or a content type (`commentary to=functions.f <|constrain|>json`); the body ends
# at any mark that ends or begins a message, or where the response was cut. A header that was cut is no message.
# The repeats are not possessive, since a possessive group with a lookahead does not match before Python 3.11.5; they
# stay linear, since none goes beyond the next mark.
_HARMONY = re.compile(
    r"""
    <\|channel\|> (?P<channel>[a-z]++) (?P<rest>(?: (?!<\|message\|>|<\|channel\|>) . )*) <\|message\|>
    (?P<body>(?: (?!<\|(?:end|return|call|start|channel)\|>) . )*)
    """,
    re.VERBOSE | re.DOTALL,
)
_HARMONY_MARK = re.compile(r"<\|(?:channel|message)\|>")
_HARMONY_END = re.compile(r"<\|(?:return|call)\|>")
_HARMONY_ROLE = re.compile(r"\A\s*<\|start\|>[a-z]*")


def left_open(prompt: str, form: ReasoningFormat) -> bool:
    """Whether a rendered prompt ends inside a reasoning block, so that the response begins within it."""
    return form in _TAGS and prompt.rstrip().endswith(_TAGS[form][0])


def split(raw: str, form: ReasoningFormat, *, opened: bool = False, control: Iterable[str] = ()) -> Channels:
    """What was thought and what was answered.

    `opened` says that the prompt itself opened the reasoning (`left_open`). `control` are the control tokens that
    occur in `raw`; none of them stays in the answer. A response that was cut inside its reasoning has no answer; one
    without any mark of its format is all answer.

    >>> split("<think>3/4 is 0.75</think>FINAL: 2.25 liters<|im_end|>", ReasoningFormat.THINK, control=["<|im_end|>"])
    Channels(text='FINAL: 2.25 liters', reasoning='3/4 is 0.75', cut=False)
    """
    match form:
        case ReasoningFormat.NONE:
            found = Channels(text=raw, reasoning="")
        case ReasoningFormat.HARMONY:
            found = _split_harmony(raw)
        case ReasoningFormat.THINK | ReasoningFormat.BRACKET_THINK:
            found = _split_tags(raw, *_TAGS[form], opened=opened)
    # Longest first: one control token may begin like another.
    marks = sorted(control, key=len, reverse=True)
    return replace(found, text=_without(found.text, marks), reasoning=_without(found.reasoning, marks))


def _split_tags(raw: str, begin: str, end: str, *, opened: bool) -> Channels:
    """Every block between `begin` and `end` is reasoning, wherever it stands; the rest is the answer."""
    close, start = raw.find(end), raw.find(begin)
    # An end before any begin closes a block that the prompt opened, whether or not we saw it do so.
    inside = opened or (close != -1 and (start == -1 or close < start))
    if not inside and start == -1:
        return Channels(text=raw, reasoning="")
    thought: list[str] = []
    said: list[str] = []
    rest = raw
    while rest:
        part, _, rest = rest.partition(end if inside else begin)
        (thought if inside else said).append(part.removeprefix(begin) if inside else part)
        inside = not inside
    cut = begin in raw.rpartition(end)[2] or (opened and close == -1)
    return Channels(text=_joined(said), reasoning=_joined(thought), cut=cut)


def _split_harmony(raw: str) -> Channels:
    """The channel `final` is the answer; analysis, commentary and anything before the first message are reasoning."""
    if not (first := _HARMONY_MARK.search(raw)):
        return Channels(text=raw, reasoning="")
    thought = [_HARMONY_ROLE.sub("", raw[: first.start()])]
    said: list[str] = []
    final, end = False, 0
    for message in _HARMONY.finditer(raw):
        final, end = message["channel"] == "final", message.end()
        (said if final else thought).append(message["body"])
    cut = not final and not _HARMONY_END.search(raw, end)
    return Channels(text=_joined(said), reasoning=_joined(thought), cut=cut)


def _joined(parts: list[str]) -> str:
    """The parts that say something, one under another, without the line ends next to the marks."""
    return "\n".join(part.strip("\r\n") for part in parts if part.strip())


def _without(text: str, marks: list[str]) -> str:
    for mark in marks:
        text = text.replace(mark, "")
    return text
