"""The audit is the strict parser on the rewritten text, never raises, and takes linear time."""

import re
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samequantity.domain.answers import BLANKS, Question, judge
from samequantity.domain.rewriting import AsteriskBetweenDigits, Audited, audit
from samequantity.domain.units import LITERS, METERS, Unit
from transcripts import ANYTHING, GRAMMAR, NOWHERE, words

KEEP = AsteriskBetweenDigits.KEEP


def audited(
    text: str, unit: Unit = METERS, expected: Fraction = NOWHERE, asterisk: AsteriskBetweenDigits = KEEP
) -> Audited:
    return audit(text, "stop", Question(unit=unit, expected=expected), asterisk)


def rewritten(text: str, asterisk: AsteriskBetweenDigits) -> str:
    """The rewrite as section 5 says it, of the whole transcript and without a thought for time."""
    text = text.replace("`", "")
    inside = r"(?<![0-9*])\*+|\*+(?![0-9*])"  # a run that lacks a digit on either side
    text = re.sub(inside if asterisk is KEEP else r"\*", "", text)
    text = re.sub(rf"((?:^|[\n\r])[{BLANKS}]*)(?:[Ff][Ii][Nn][Aa][Ll]):", r"\1FINAL:", text)
    times = rf"(?<=[0-9])[{BLANKS}]*[×x][{BLANKS}]*10"
    text = re.sub(rf"{times}\^([+-]?[0-9]+)(?![0-9⁰¹²³⁴⁵⁶⁷⁸⁹])", r"e\1", text)
    raised = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
    return re.sub(
        rf"{times}([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)(?![0-9⁰¹²³⁴⁵⁶⁷⁸⁹])", lambda match: "e" + match[1].translate(raised), text
    )


MARKED = st.lists(
    st.sampled_from(
        [*words("FINAL: Final: 1 2 12 1.5 × x 10 ^ 10^4 ⁴ ⁻² * ** *** ` m L % . ,"), " ", " ", "\n", "\r", "\u00a0"]
    ),
    max_size=16,
).map("".join)


@settings(deadline=None, max_examples=600)
@given(text=st.one_of(MARKED, GRAMMAR, ANYTHING), asterisk=st.sampled_from(AsteriskBetweenDigits))
def test_the_audit_is_the_strict_parser_on_the_rewritten_text(text, asterisk):
    question = Question(unit=METERS, expected=Fraction(12))
    for transcript in (text, f"FINAL: {text}", f"**Final:** 1.5 × 10{text} m"):
        verdict = audited(transcript, expected=question.expected, asterisk=asterisk).verdict

        assert judge(rewritten(transcript, asterisk), "stop", question) == verdict


@settings(deadline=None, max_examples=300)
@given(text=st.one_of(MARKED, GRAMMAR, ANYTHING))
def test_a_verdict_differs_from_the_strict_one_only_where_something_was_rewritten(text):
    for transcript in (text, f"FINAL: {text}", f"FINAL: 12 m{text}"):
        question = Question(unit=METERS, expected=Fraction(12))
        strict, found = judge(transcript, "stop", question), audited(transcript, expected=question.expected)
        folded = rewritten(transcript, KEEP)
        if folded == transcript:
            assert strict == found.verdict
            assert () == found.rewrites
        if found.verdict.value is None or found.verdict.value == 12:
            assert found.magnitude_k is None


@settings(deadline=None, max_examples=200)
@given(
    value=st.fractions(max_denominator=10**6).filter(lambda value: value != 0),
    k=st.integers(-20, 20),
    off=st.sampled_from([Fraction(0), Fraction(1, 10**30)]),
)
def test_a_magnitude_is_exact(value, k, off):
    """The least deviation from the power of ten, far below a float's, is no magnitude drop."""
    expected = value * Fraction(10) ** k + off
    found = audited(f"FINAL: {value.numerator}/{value.denominator} L", LITERS, expected)

    assert (k if k and not off and abs(k) <= 15 else None) == found.magnitude_k


# Time

ADVERSARIAL = {
    "digits": lambda size: "1" * size,
    "digits of a tag line": lambda size: "FINAL: " + "1" * size,
    "digits and blanks": lambda size: "FINAL: " + "1 " * (size // 2),
    "long blanks": lambda size: "FINAL: " + ("1" + " " * 999) * (size // 1000),
    "operators": lambda size: "FINAL: " + "1*" * (size // 2),
    "long operators": lambda size: "FINAL: " + ("1" + "*" * 999) * (size // 1000),
    "one long operator": lambda size: "FINAL: 1" + "*" * size,
    "asterisks": lambda size: "*" * size,
    "powers": lambda size: "FINAL: 1" + "x10^1" * (size // 5),
    "almost powers": lambda size: "FINAL: 1" + " x10" * (size // 4),
    "one long exponent": lambda size: "FINAL: 1x10^" + "1" * size + "⁴",
    "raised": lambda size: "FINAL: 1x10" + "⁴" * (size // 3) + "1",
    "code marks": lambda size: "`" * size,
    "tag lines": lambda size: "\n*Final:* `1` m" * (size // 15),
    "carriage returns": lambda size: "\r*\n" * (size // 3) + "Final: 1 m",
}


@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_the_time_is_linear_in_the_transcript(kind: str) -> None:
    """10 to 200 ms for a megabyte measured on an idle machine; the slack is for a busy one."""
    seconds = []
    for size in (250_000, 1_000_000):
        text, best = ADVERSARIAL[kind](size), float("inf")
        for _ in range(2):
            started = time.process_time()
            audited(text)
            best = min(best, time.process_time() - started)
        seconds.append(best)

    assert seconds[1] < 1
    assert seconds[1] < 8 * seconds[0] + 0.04
