"""Which line of a transcript counts, and in which order the outcomes are decided (PROTOCOL section 4)."""

import unicodedata
from fractions import Fraction

import pytest

from samequantity.domain.answers import BLANKS, Question, judge
from samequantity.domain.units import KM_PER_HOUR, LITERS
from samequantity.domain.verdicts import Status
from transcripts import INVISIBLE, NO_LINE_END, NOWHERE, final, outcome


def status(text: str, finish_reason: str | None = "stop", expected: str = "12") -> Status:
    return judge(text, finish_reason, Question(unit=LITERS, expected=Fraction(expected))).status


# The order of the outcomes


@pytest.mark.parametrize("reason", ["length", "eos", "end_turn", "STOP", "Stop", " stop", "stop ", "other", "", None])
def test_only_the_literal_stop_passes_and_nothing_else_is_scanned(reason: str | None) -> None:
    """Q30."""
    verdict = judge("FINAL: 12 L", reason, Question(unit=LITERS, expected=Fraction(12)))

    assert (Status.TRUNCATION_ERROR, 0, None) == (verdict.status, verdict.final_lines, verdict.value)


def test_the_first_outcome_that_applies_is_given() -> None:
    assert Status.TRUNCATION_ERROR == status("no line", "length")
    assert Status.FORMAT_ERROR == status("no line")
    assert Status.PARSE_ERROR == status("FINAL: twelve parsecs")
    assert Status.UNIT_ERROR == status("FINAL: 13 parsecs")
    assert Status.VALUE_ERROR == status("FINAL: 13 L")
    assert Status.CORRECT == status("FINAL: 12 L")


# The tag and the line (Q01 to Q04, Q37)


@pytest.mark.parametrize(
    "text",
    [
        "FINAL: 12 L",
        " FINAL: 12 L",
        "\t\u3000\u00a0FINAL: 12 L",
        "prose\nFINAL: 12 L",
        "prose\rFINAL: 12 L",
        "prose\r\n  FINAL: 12 L\r\n",
        "\n\n\r\rFINAL: 12 L",
        "FINAL: 12 L\nThat is all; the FINAL: 13 L of the draft was wrong.",
        "FINAL: 12 L\rmore",
        "FINAL: 13 L\n\nFINAL: 12 L",
        "FINAL:12 L",
        "FINAL:\t12\tL",
        "FINAL: 12 L \u2003\t",
    ],
)
def test_a_line_that_begins_with_the_tag_is_read(text: str) -> None:
    assert Fraction(12) == outcome(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "12 L",
        "The FINAL: 12 L",
        "final: 12 L",
        "Final: 12 L",
        "FINAL : 12 L",
        "FINAL 12 L",
        "FINAL\n: 12 L",
        "FINAL\uff1a 12 L",
        "\uff26\uff29\uff2e\uff21\uff2c: 12 L",
        "F\u0130NAL: 12 L",
        "-FINAL: 12 L",
        "\u2022 FINAL: 12 L",
        '"FINAL: 12 L"',
        *(f"{sign}FINAL: 12 L" for sign in INVISIBLE),
        *(f"prose{end}FINAL: 12 L" for end in NO_LINE_END),
    ],
)
def test_any_other_line_is_no_tag_line(text: str) -> None:
    assert Status.FORMAT_ERROR == outcome(text)


@pytest.mark.parametrize("end", NO_LINE_END)
def test_a_line_goes_on_over_what_is_no_line_end(end: str) -> None:
    """Q02: the rest of the line is part of the unit or the number."""
    assert Status.UNIT_ERROR == final(f"12 L{end}")
    assert Status.PARSE_ERROR == final(f"12{end} L")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("FINAL: 12 L", 1),
        ("FINAL: 1 L\nFINAL: 2 L\r\nFINAL: 3 L\rFINAL: 4 L\n", 4),
        ("FINAL: 1 L FINAL: 2 L", 1),
        ("FINAL:\nFINAL:\n\n  FINAL:", 3),
        ("final: 1 L\nFINAL: 2 L", 1),
        ("FINAL:FINAL: 2 L", 1),
    ],
)
def test_tag_lines_are_counted(text: str, lines: int) -> None:
    assert lines == judge(text, "stop", Question(unit=LITERS, expected=NOWHERE)).final_lines


def test_the_last_tag_line_counts_even_when_an_earlier_one_is_better() -> None:
    assert Status.PARSE_ERROR == outcome("FINAL: 12 L\nFINAL: see above")
    assert Status.PARSE_ERROR == outcome("FINAL: 12 L\nFINAL:")


def test_blanks_are_tab_and_the_category_of_space_separators() -> None:
    """Q04: whatever this Python's Unicode says, and nothing else."""
    separators = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Zs"}

    assert separators | {"\t"} == set(BLANKS)


@pytest.mark.parametrize("blank", BLANKS, ids=lambda blank: f"U+{ord(blank):04X}")
def test_every_blank_separates_every_pair_of_tokens(blank: str) -> None:
    text = f"{blank}FINAL:{blank}{blank}90{blank}kilometers{blank}{blank}per{blank}hour{blank}.{blank}"

    assert Fraction(90) == outcome(text, KM_PER_HOUR)
    assert Status.PARSE_ERROR == final(f"1{blank}234 L"), "never inside a number"
    assert Status.PARSE_ERROR == final(f"1{blank}/2 L")


@pytest.mark.parametrize("sign", INVISIBLE)
def test_characters_without_width_are_no_blanks(sign: str) -> None:
    assert Status.PARSE_ERROR == final(f"{sign}12 L")
    assert Status.PARSE_ERROR == final(f"12{sign} L")
    assert Status.PARSE_ERROR == final(f"1{sign}2 L")
    assert Status.UNIT_ERROR == final(f"12 {sign}L")
    assert Status.UNIT_ERROR == final(f"12 L{sign}")
    assert Status.UNIT_ERROR == final(f"12 {sign} L")
