"""The audit, version audit_v2: one fixed rewrite of a transcript that the strict parser refused, then the parser again.

The rewrite removes markdown emphasis and code marks, folds the tag's case and turns `m × 10^k` into e-notation. It
never adds or removes a line end's character, so what stands between the n-th and the next of them in the rewritten
transcript is what stood there in the raw one.

>>> from fractions import Fraction
>>> from samequantity.domain.units import METERS
>>> audit("**Final:** 1.5 × 10⁴ m", "stop", Question(unit=METERS, expected=Fraction(15000))).verdict.status
<Status.CORRECT: 'correct'>
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from samequantity.domain.answers import (
    BLANKS,
    STOP,
    TAG_LINE_ANY_CASE,
    Question,
    Verdict,
    judge,
    judge_line,
    last_final_line,
)
from samequantity.domain.rationals import power_of_ten_between
from samequantity.domain.verdicts import Status

AUDIT_VERSION = "audit_v2"

MAGNITUDE_LIMIT = 15
"""The largest |k| that counts as a magnitude drop."""


class AsteriskBetweenDigits(StrEnum):
    """What becomes of an asterisk run between two digits: an operator stays; the paper removes every asterisk."""

    KEEP = "keep"
    REMOVE = "remove"


class Rewrite(StrEnum):
    """The parts of the rewrite, in the order in which they apply."""

    CODE = "code"
    EMPHASIS = "emphasis"
    TAG_CASE = "tag_case"
    SCIENTIFIC = "scientific"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """The verdict on a rewritten transcript.

    `rewrites` names the parts that changed the tag line which was judged (empty when no tag line was found);
    `magnitude_k` is the integer with value × 10^k = expected, None where there is none.
    """

    verdict: Verdict
    rewrites: tuple[Rewrite, ...] = ()
    magnitude_k: int | None = None


# A run between two digits, with the digit before it: the one kind that is kept. Possessive, hence linear.
_OPERATOR = re.compile(r"([0-9]\*++(?=[0-9]))", re.ASCII)

_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")

# Accepts `1.5 × 10^4`, `1.5x10^-4`, `2 × 10⁴`. It does not accept: an upper-case X, a dot or asterisk operator, a
# U+2212 exponent, blanks round the caret, a bare 10^4, an exponent that goes on in the other notation.
_TIMES_POWER_OF_TEN = re.compile(
    rf"""
    (?<= [0-9]) [{BLANKS}]*+ [×x] [{BLANKS}]*+ 10
    (?: \^ (?P<caret> [+-]? [0-9]++) | (?P<raised> [⁺⁻]? [⁰¹²³⁴⁵⁶⁷⁸⁹]++) )
    (?! [0-9⁰¹²³⁴⁵⁶⁷⁸⁹] )
    """,
    re.VERBOSE | re.ASCII,
)


def audit(
    text: str,
    finish_reason: str | None,
    question: Question,
    asterisk: AsteriskBetweenDigits = AsteriskBetweenDigits.KEEP,
) -> Audited:
    """Judge a transcript that the strict parser refused, after the fixed rewrite; never raises on any text."""
    if finish_reason != STOP:
        return Audited(verdict=judge(text, finish_reason, question))
    plain = _without_marks(text, asterisk)
    line = last_final_line(plain, TAG_LINE_ANY_CASE)
    if line is None:
        return Audited(verdict=judge(plain, finish_reason, question))
    payload = _e_notation(line.payload)
    verdict = judge_line(replace(line, payload=payload), question)
    raw_line = _line(text, _line_number(plain, line.start))
    changed = {
        Rewrite.CODE: "`" in raw_line,
        Rewrite.EMPHASIS: _without_marks(raw_line, asterisk) != raw_line.replace("`", ""),
        Rewrite.TAG_CASE: plain[line.start - len("FINAL:") : line.start] != "FINAL:",
        Rewrite.SCIENTIFIC: payload != line.payload,
    }
    drop = None
    if verdict.value is not None:
        drop = power_of_ten_between(verdict.value, question.expected, MAGNITUDE_LIMIT)
    return Audited(
        verdict=verdict, rewrites=tuple(rewrite for rewrite in Rewrite if changed[rewrite]), magnitude_k=drop
    )


def second_reading(
    strict: Status,
    text: str,
    finish_reason: str | None,
    question: Question,
    asterisk: AsteriskBetweenDigits = AsteriskBetweenDigits.KEEP,
) -> Audited | None:
    """The audit of a response by what the strict parser made of it; None where that is correct, and is carried over."""
    return None if strict is Status.CORRECT else audit(text, finish_reason, question, asterisk)


def _without_marks(text: str, asterisk: AsteriskBetweenDigits) -> str:
    """The text without code marks and emphasis. Code marks go first, so that 2`*`3 never becomes 23."""
    text = text.replace("`", "")
    if asterisk is AsteriskBetweenDigits.REMOVE:
        return text.replace("*", "")
    parts = _OPERATOR.split(text)  # kept runs at the odd places
    parts[::2] = [part.replace("*", "") for part in parts[::2]]
    return "".join(parts)


def _e_notation(payload: str) -> str:
    """The payload with every `m × 10^k` written as `mek`."""
    if "10" not in payload:
        return payload

    def exponent(match: re.Match[str]) -> str:
        return "e" + (match["caret"] or match["raised"].translate(_SUPERSCRIPTS))

    return _TIMES_POWER_OF_TEN.sub(exponent, payload)


def _line_number(text: str, index: int) -> int:
    """How many characters LF and CR come before `index`; a CRLF is two, since a mark between them may have gone."""
    return text.count("\n", 0, index) + text.count("\r", 0, index)


def _line(text: str, number: int) -> str:
    """What follows the first `number` characters LF and CR, up to the next."""
    return text.replace("\r", "\n").split("\n", number + 1)[number]
