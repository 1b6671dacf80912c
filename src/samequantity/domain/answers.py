r"""The strict parser: from a transcript to an exact value, or to the reason why there is none (PROTOCOL section 4).

>>> from fractions import Fraction
>>> from samequantity.domain.units import LITERS
>>> question = Question(unit=LITERS, expected=Fraction(5, 2))
>>> judge("So it holds\nFINAL: 2500 milliliters.", "stop", question).status
<Status.CORRECT: 'correct'>
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from samequantity.domain.units import PERCENT, Dimension, Unit, answered_unit
from samequantity.domain.verdicts import Status

STOP = "stop"
"""The one finish reason that means a complete response; backends' synonyms are mapped when a response is recorded."""

BLANKS = "\t \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""Tab and Unicode category Zs (space included). Zero-width characters are not blanks, nor are line ends."""

MAX_NUMBER = 100
"""Characters of a number; the bound keeps every answer cheap, since an exponent is bounded too."""

MAX_EXPONENT = 1000

_UNIT_WORDS = 3
"""Words of the longest unit, kilometers per hour; what follows them is not taken apart, however long it is."""

# Searched in the transcript with one line end put before it, so that every line begins after one.
# It does not accept: text before the tag, a blank before the colon, a form feed or U+2028 as a line end.
_TAG_LINE = re.compile(rf"[\n\r][{BLANKS}]*FINAL:")
TAG_LINE_ANY_CASE = re.compile(rf"[\n\r][{BLANKS}]*[Ff][Ii][Nn][Aa][Ll]:")
"""The audit's reading of the tag: ASCII letters of either case."""

_LINE_END = re.compile(r"[\n\r]")

_BLANK_RUN = re.compile(rf"[{BLANKS}]+")

# What it accepts and what it does not, by example:
# 12  -3  +4  007  1,234  3.50  1,234.5  9/20  6/4  1E+04  2.5e-3
# .5  5.  0,125  12,34  1,234e3  1,500/2  3/-4  1 1/2  1.5 × 10^4  1_000  ١٢  inf
_NUMBER = re.compile(
    r"""
    (?P<sign>[+-]?)
    (?:
        (?P<numerator>[0-9]+) / (?P<denominator>[0-9]+)
      | (?P<mantissa>[0-9]+ (?:\.[0-9]+)?) [eE] (?P<exponent>[+-]?[0-9]+)
      | (?P<decimal>(?: [1-9][0-9]{0,2} (?:,[0-9]{3})+ | [0-9]+ ) (?:\.[0-9]+)?)
    )
    """,
    re.VERBOSE | re.ASCII,
)

# A token after the number that shows the number to go on: `1 234`, `1 1/2`, `1.5 x 10^4`, `12 ± 0.5`.
# Any character with a numeric value counts too, which a regular expression cannot say: see `_continues`.
_CONTINUATION = re.compile(
    r"""
      [-+\u2212\u2013\u2014/\u00d7\u00b7\u22c5^\u00b1.,]   # signs, dashes, operators, separators
    | [xX] (?: \Z | [0-9])                                 # x alone or before a digit
    | [eE] [+-]? [0-9]                                     # a detached exponent
    | \\times | \\cdot                                     # typesetting
    | \*+ \Z                                               # asterisks alone
    """,
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a response is held against: the unit asked for and the exact answer in that unit."""

    unit: Unit
    expected: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one response is worth.

    `value` is exact, in the unit asked for, and present exactly when `status.has_value`; `unit` is the unit written,
    None where none was; `final_lines` counts the tag lines, 0 for a truncated response, which is not scanned.
    """

    status: Status
    final_lines: int
    value: Fraction | None = None
    unit: Unit | None = None

    def __post_init__(self) -> None:
        if (self.value is not None) is not self.status.has_value:
            raise ValueError(f"a verdict {self.status} with value {self.value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalLine:
    """The last tag line of a transcript: what follows the tag, how many tag lines there are, and on which line it is.

    `start` is the index just after the tag, in the transcript.
    """

    payload: str
    count: int
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A payload that was understood: value in the unit asked for, and the unit written (None: none)."""

    value: Fraction
    unit: Unit | None


def last_final_line(text: str, tag_line: re.Pattern[str] = _TAG_LINE) -> FinalLine | None:
    """The tag line that counts, or None; linear in the transcript, one copy of it."""
    count, start = 0, -1
    for match in tag_line.finditer("\n" + text):
        count, start = count + 1, match.end() - 1
    if not count:
        return None
    end = _LINE_END.search(text, start)
    return FinalLine(payload=text[start : end.start() if end else None], count=count, start=start)


def judge(text: str, finish_reason: str | None, question: Question) -> Verdict:
    """Apply the strict parser to a transcript; never raises on any text."""
    if finish_reason != STOP:
        return Verdict(status=Status.TRUNCATION_ERROR, final_lines=0)
    line = last_final_line(text)
    if line is None:
        return Verdict(status=Status.FORMAT_ERROR, final_lines=0)
    return judge_line(line, question)


def judge_line(line: FinalLine, question: Question) -> Verdict:
    """The verdict on a complete response whose last tag line is `line`."""
    reading = read_payload(line.payload, question.unit)
    if isinstance(reading, Status):
        return Verdict(status=reading, final_lines=line.count)
    status = Status.CORRECT if reading.value == question.expected else Status.VALUE_ERROR
    return Verdict(status=status, final_lines=line.count, value=reading.value, unit=reading.unit)


def read_payload(payload: str, asked: Unit) -> Reading | Status:
    """What follows the tag, as a value in the unit asked for, or PARSE_ERROR or UNIT_ERROR."""
    payload = payload.strip(BLANKS).removesuffix(".").rstrip(BLANKS)
    token, rest = _split_token(payload)
    percent = token.endswith("%")
    number = _read_number(token.removesuffix("%"))
    if number is None or _continues(_split_token(rest)[0]):
        return Status.PARSE_ERROR
    if percent:
        unit = None if rest else PERCENT
    elif rest:
        unit = answered_unit(" ".join(_BLANK_RUN.split(rest, maxsplit=_UNIT_WORDS)))
    elif asked.dimension is Dimension.DIMENSIONLESS:
        return Reading(value=number, unit=None)
    else:
        unit = None
    if unit is None or unit.dimension is not asked.dimension:
        return Status.UNIT_ERROR
    return Reading(value=unit.convert(number, asked), unit=unit)


def _split_token(text: str) -> tuple[str, str]:
    """The first run without blanks, and what follows it without leading blanks."""
    token, *rest = _BLANK_RUN.split(text, maxsplit=1)
    return token, rest[0] if rest else ""


def _read_number(token: str) -> Fraction | None:
    """The exact value of a number token, None when it is none or beyond the bounds."""
    if len(token) > MAX_NUMBER:
        return None
    match = _NUMBER.fullmatch(token)
    if match is None:
        return None
    sign = -1 if match["sign"] == "-" else 1
    if match["denominator"] is not None:
        denominator = int(match["denominator"])
        return Fraction(sign * int(match["numerator"]), denominator) if denominator else None
    if match["exponent"] is not None:
        exponent = int(match["exponent"])
        return sign * Fraction(match["mantissa"]) * Fraction(10) ** exponent if abs(exponent) <= MAX_EXPONENT else None
    return sign * Fraction(match["decimal"].replace(",", ""))


def _continues(token: str) -> bool:
    """Whether the token after a number shows that the number was not over."""
    if not token:
        return False
    after_asterisks = token.lstrip("*") if token[0] == "*" else token
    return after_asterisks[:1].isnumeric() or _CONTINUATION.match(token) is not None
