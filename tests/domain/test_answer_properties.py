"""The strict parser inverts the writing of an answer, never raises, and takes linear time."""

import time
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from samequantity.domain.answers import Question, judge
from samequantity.domain.units import KM_PER_HOUR, LITERS, REGISTRY
from samequantity.domain.verdicts import Status
from transcripts import ANYTHING, GRAMMAR, numbers, spaced

ANSWERABLE = [
    (spelling, unit)
    for unit in REGISTRY.values()
    for spelling in sorted({*unit.symbols, *unit.words, *(word.upper() for word in unit.words)})
]


@settings(deadline=None, max_examples=300)
@given(
    prose=ANYTHING,
    number=numbers(),
    written=st.sampled_from(ANSWERABLE),
    blanks=spaced(),
    end=st.sampled_from(["", ".", " ."]),
    after=st.sampled_from(["", "\n", "\r\nDone.", "\rfinal: 3 L"]),
)
def test_a_written_answer_is_read_back_exactly(prose, number, written, blanks, end, after):
    """Whatever prose comes first, the strict parser inverts the writing of the number and the unit."""
    spelling, unit = written
    before, between, inner = blanks
    glued = spelling == "%"
    payload = f"{before}{number.text}{'' if glued else between}{spelling.replace(' ', inner)}{end}"
    for asked in (asked for asked in REGISTRY.values() if asked.dimension is unit.dimension):
        value = unit.convert(number.value, asked)
        verdict = judge(f"{prose}\nFINAL:{payload}{after}", "stop", Question(unit=asked, expected=value))

        assert (Status.CORRECT, value, unit) == (verdict.status, verdict.value, verdict.unit)
        assert 1 <= verdict.final_lines
        other = judge(f"{prose}\nFINAL:{payload}{after}", "stop", Question(unit=asked, expected=value + 1))
        assert (Status.VALUE_ERROR, value) == (other.status, other.value)


@settings(deadline=None, max_examples=500)
@given(text=st.one_of(ANYTHING, GRAMMAR), unit=st.sampled_from(list(REGISTRY.values())))
def test_no_text_makes_the_parser_raise(text, unit):
    for transcript in (text, f"FINAL:{text}", f"FINAL: 12 {text}", f"x\nFINAL: {text} L"):
        verdict = judge(transcript, "stop", Question(unit=unit, expected=Fraction(12)))

        assert Status.TRUNCATION_ERROR != verdict.status
        assert (verdict.final_lines == 0) is (verdict.status is Status.FORMAT_ERROR)
        assert verdict.value is None or verdict.unit is None or verdict.unit.dimension is unit.dimension


@settings(deadline=None, max_examples=200)
@given(text=GRAMMAR)
def test_only_the_last_tag_line_matters(text):
    """Another transcript before, or prose after, changes the count of tag lines and nothing else."""
    question = Question(unit=LITERS, expected=Fraction(12))
    assume("FINAL:" not in text)
    alone = judge(f"FINAL:{text}", "stop", question)
    within = judge(f"FINAL: 12 L\nFINAL: 13 L\nFINAL:{text}\nprose\r", "stop", question)

    assert (alone.status, alone.value, alone.unit) == (within.status, within.value, within.unit)
    assert alone.final_lines + 2 == within.final_lines


# Time

MEGABYTE = 1_000_000
ADVERSARIAL: dict[str, Callable[[int], str]] = {
    "line ends": lambda size: "\n" * size,
    "carriage returns": lambda size: "\r\n" * (size // 2),
    "one line of blanks": lambda size: "\n" + " " * size,
    "lines of blanks": lambda size: ("\n" + " " * 99) * (size // 100),
    "tags": lambda size: "FINAL:\n" * (size // 7),
    "tag lines": lambda size: "FINAL: 1 L\n" * (size // 11),
    "digits": lambda size: "FINAL: " + "1" * size,
    "groups": lambda size: "FINAL: 1" + ",111" * (size // 4),
    "group and no unit": lambda size: "FINAL: 1" + ",111" * (size // 4) + "!",
    "denominator": lambda size: "FINAL: 1/" + "3" * size,
    "exponent": lambda size: "FINAL: 1e" + "9" * size,
    "small number": lambda size: "FINAL: 0." + "0" * size + "1 L",
    "long unit": lambda size: "FINAL: 1 " + "L" * size,
    "words": lambda size: "FINAL: 1 " + "a " * (size // 2),
    "blanks in the unit": lambda size: "FINAL: 1 kilometers" + " " * size + "per hour",
    "ideographic blanks": lambda size: "FINAL: 1" + "\u3000" * (size // 3) + "L",
    "asterisks": lambda size: "FINAL: 1 " + "*" * size,
    "periods": lambda size: "FINAL: 1 L" + "." * size,
    "almost a tag": lambda size: "\nFINAL" * (size // 6),
    "letters": lambda size: "a" * size,
}


@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_the_time_is_linear_in_the_transcript(kind: str) -> None:
    """A megabyte takes under 50 ms on an idle machine (5 to 40 measured); the slack is for a busy one."""
    question = Question(unit=KM_PER_HOUR, expected=Fraction(1))
    quarter, whole = (ADVERSARIAL[kind](size) for size in (MEGABYTE // 4, MEGABYTE))
    short, long = (_seconds(lambda text=text: judge(text, "stop", question)) for text in (quarter, whole))

    assert long < 0.25
    assert long < 8 * short + 0.02, "four times the text, about four times the time"


def _seconds(call: Callable[[], object]) -> float:
    """Processor time of the best of three calls."""
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        call()
        best = min(best, time.process_time() - started)
    return best
