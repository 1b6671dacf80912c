"""The audit does what PROTOCOL section 5 says: one fixed rewrite, then the unchanged parser."""

from fractions import Fraction

import pytest

from samequantity.domain.answers import Question, Verdict, judge
from samequantity.domain.rewriting import (
    AUDIT_VERSION,
    MAGNITUDE_LIMIT,
    AsteriskBetweenDigits,
    Audited,
    Rewrite,
    audit,
    second_reading,
)
from samequantity.domain.units import DIMENSIONLESS, KILOMETERS, METERS, Unit
from samequantity.domain.verdicts import Status
from transcripts import NOWHERE, entries

KEEP, REMOVE = AsteriskBetweenDigits.KEEP, AsteriskBetweenDigits.REMOVE


def audited(
    text: str, unit: Unit = METERS, expected: Fraction = NOWHERE, asterisk: AsteriskBetweenDigits = KEEP
) -> Audited:
    return audit(text, "stop", Question(unit=unit, expected=expected), asterisk)


def outcome(text: str, unit: Unit = METERS, asterisk: AsteriskBetweenDigits = KEEP) -> Fraction | Status:
    """The audited value of a whole transcript, or why there is none."""
    verdict = audited(text, unit, asterisk=asterisk).verdict
    return verdict.status if verdict.value is None else verdict.value


def test_the_version_is_the_protocols() -> None:
    assert "audit_v2" == AUDIT_VERSION


# Scientific notation (Q25 to Q27, Q33)

SCIENTIFIC = {
    "1.5 × 10^4": "15000",
    "1.5×10^4": "15000",
    "1.5 ×10^4": "15000",
    "1.5× 10^4": "15000",
    "1.5 x 10^4": "15000",
    "1.5x10^4": "15000",
    "1.5\u00a0\u2009×\t\u300010^4": "15000",
    "1.5 × 10⁴": "15000",
    "1.5x10⁴": "15000",
    "1.5 × 10⁻²": "3/200",
    "1.5 × 10⁺²": "150",
    "1.5 × 10^-2": "3/200",
    "1.5 × 10^+2": "150",
    "1.5 × 10^02": "150",
    "1.5 × 10⁰²": "150",
    "1.5 × 10^0": "3/2",
    "1.5 × 10⁻⁰": "3/2",
    "-1.5 × 10^4": "-15000",
    "+1.5 × 10^4": "15000",
    "15 × 10^3": "15000",
    "0 × 10^9": "0",
    "007.50 × 10^1": "75",
    "10 × 10^3": "10000",
    "2 × 10¹": "20",
    "2 × 10²": "200",
    "2 × 10³": "2000",
    "2 × 10¹⁰": str(2 * 10**10),
    "1 × 10^1000": str(10**1000),
    "1 × 10⁻¹⁰⁰⁰": f"1/{10**1000}",
    "1 × 10^0001000": str(10**1000),
    "1.5 × **10^4**": "15000",
    "**1.5** × 10^**4**": "15000",
    "`1.5` × `10^4`": "15000",
    "1.5 *×* 10⁴": "15000",
}
NOT_REWRITTEN = [
    *entries("1.5 X 10^4 | 1.5X10^4 | 1.5 × 10^−4 | 1.5 × 10−4 | 1.5 × 10 ^4 | 1.5 × 10^ 4 | 1.5 × 10 ^ 4"),
    *entries("1.5 × 10 ⁴ | 1.5 × 1 0^4 | 10^4 | 10⁴ | × 10^4 | x10^4 | 1.5 · 10^4 | 1.5 ⋅ 10^4 | 1.5 * 10^4"),
    *entries("1.5*10^4 | 1.5✕10^4 | 1.5 \\times 10^4 | 1.5 × 10^{4} | 1.5 × 10^(4) | 1.5 × 10**4 | 1.5 × 10"),
    *entries("1.5 × 10^ | 1.5 × 10^- | 1.5 × 4 | 1.5 × 10^+-4 | 1.5 × 10⁻ | 1.5 × 10⁺⁻⁴ | 1.5 × 10^⁴ | 1.5 × 10^4⁵"),
    *entries("1.5 × 10⁴5 | 1.5 × 10^4.5 | 1.5 × 10⁴.5 | 1.5 × 10^4e2 | 1.5e2 × 10^4 | 1.5 × 10^4 × 10^2"),
    *entries("1.5 × 10^4/2 | 1/2 × 10^4 | 1,500 × 10^3 | 1,500.5x10³ | .5 × 10^4 | 5. × 10^4 | 1.5 × 10^1001"),
    *entries("1 × 10⁻¹⁰⁰¹ | 0 × 10^1001 | 1.5 × 10^999999999 | 1.5 × 100^4 | 1.5 × 010^4 | 1.5 × １０^4 | 1.5 × 10^４"),
    *entries("1.5 × 10^٤ | 1.5 × 10₄ | 1.5 × 10ⁿ | 1.5 × 10^4 5 | 1.5 × × 10^4 | (1.5 × 10^4) | ≈1.5 × 10^4"),
    *entries("1.5 x x 10^4 | ½ × 10^4 | 1.5\u200b × 10^4 | 1.5 ×\u200b10^4 | 1.5 × 10^4\u200b | 1.5 ×\x0b10^4"),
    *entries("a × 10^4 | 1.5 × -10^4 | 1.5 × 10^4 ± 1 | 1.5 × 10^4-2 | 1.5 × 10^3^2"),
]


@pytest.mark.parametrize(("number", "value"), SCIENTIFIC.items())
def test_a_mantissa_times_a_power_of_ten_is_read(number: str, value: str) -> None:
    text = f"FINAL: {number} m"

    assert not judge(text, "stop", Question(unit=METERS, expected=NOWHERE)).status.has_value
    assert Fraction(value) == outcome(text)
    assert Rewrite.SCIENTIFIC in audited(text).rewrites
    assert Fraction(value) / 100 == outcome(f"FINAL: {number} %", DIMENSIONLESS)
    assert Fraction(value) == outcome(f"FINAL: {number} .", DIMENSIONLESS)


@pytest.mark.parametrize("number", NOT_REWRITTEN)
def test_no_other_writing_of_it_is(number: str) -> None:
    assert Status.PARSE_ERROR == outcome(f"FINAL: {number} m")
    assert Status.PARSE_ERROR == outcome(f"FINAL: {number} m", asterisk=REMOVE)


def test_a_unit_glued_to_the_exponent_stays_glued() -> None:
    """Q05."""
    assert Status.PARSE_ERROR == outcome("FINAL: 1.5 × 10^4m")
    assert Status.PARSE_ERROR == outcome("FINAL: 1.5 × 10⁴m")
    assert Fraction(150) == outcome("FINAL: 1.5 × 10^4%", DIMENSIONLESS), "a percent sign may be attached"


def test_the_bound_of_a_number_holds_after_the_rewrite() -> None:
    """Q13: 100 characters of e-notation, however long the writing before was."""
    assert Fraction(int("1" * 97)) * 1000 == outcome(f"FINAL: {'1' * 97} × 10^3 m")
    assert Fraction(int("1" * 98)) * 1000 == outcome(f"FINAL: {'1' * 98}{' ' * 50}×{' ' * 50}10³ m")
    assert Status.PARSE_ERROR == outcome(f"FINAL: {'1' * 99} × 10^3 m")
    assert Status.PARSE_ERROR == outcome(f"FINAL: 1 × 10^{'0' * 99}1 m")
    assert Fraction(int("1" * 100)) == outcome(f"FINAL: {'**'.join(['1' * 100, ' m'])}")
    assert Status.PARSE_ERROR == outcome(f"FINAL: **{'1' * 101}** m")


# Marks and the tag (Q01, Q24, Q28)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "**FINAL:** 12 m",
            "**FINAL: 12 m**",
            "FINAL: **12 m**",
            "FINAL: **12** **m**",
            "FINAL: 12 *m*",
            "*FINAL:* 12 m.",
        ),
        *("`FINAL: 12 m`", "```\nFINAL: 12 m\n```", "FINAL: `12` `m`", "FINAL: `12 m`.", "**`FINAL:`** *12* m**"),
        *("* FINAL: 12 m", "  ***FINAL: 12 m***", "FI**NA**L: 12 m", "FINAL*:* 12 m", "FINAL: 12** m", "FINAL: 1`2` m"),
        *("final: 12 m", "Final: 12 m", "fInAl: 12 METERS", "\u3000Final: 12 m", "**Final:** 12 m", "*\tfinal:*12 m"),
        *(
            "FINAL: 13 m\n**FINAL:** 12 m",
            "final: 13 m\rFinal: 12 m",
            "Final: 12 m\nThe final: 13 m",
            "FINAL: **12. ** m",
        ),
    ],
)
def test_marks_and_the_case_of_the_tag_do_not_count(text: str) -> None:
    wanted = Status.PARSE_ERROR if "12. " in text else Fraction(12)

    assert wanted == outcome(text)
    assert wanted == outcome(text, asterisk=REMOVE)


@pytest.mark.parametrize(
    "text",
    [
        *("- FINAL: 12 m", "# FINAL: 12 m", "> FINAL: 12 m", "__FINAL:__ 12 m", "_FINAL: 12 m_", "~~FINAL:~~ 12 m"),
        *(
            "\\boxed{FINAL: 12 m}",
            "FINAL : 12 m",
            "FINAL** :** 12 m",
            "final 12 m",
            "FINALE: 12 m",
            "The **FINAL:** 12 m",
        ),
        *(
            "\ufb01nal: 12 m",
            "F\u0131nal: 12 m",
            "F\u0130NAL: 12 m",
            "\uff46inal: 12 m",
            "FIN\u0410L: 12 m",
            "ﬁNAL: 12 m",
        ),
        *(
            "\u200bFinal: 12 m",
            "note\fFinal: 12 m",
            "note\u2028Final: 12 m",
            "note\x85**FINAL:** 12 m",
            "1. FINAL: 12 m",
        ),
    ],
)
def test_nothing_else_makes_a_tag_line(text: str) -> None:
    assert Status.FORMAT_ERROR == outcome(text)
    assert () == audited(text).rewrites


@pytest.mark.parametrize(("run", "removed"), [("2*3", "23"), ("2**3", "23"), ("2***3", "23"), ("9**9**9", "999")])
def test_an_asterisk_run_between_two_digits_is_an_operator(run: str, removed: str) -> None:
    """Q24, and the setting that follows the paper."""
    assert Status.PARSE_ERROR == outcome(f"FINAL: {run} m")
    assert Fraction(removed) == outcome(f"FINAL: {run} m", asterisk=REMOVE)
    assert Fraction(removed) == outcome(f"FINAL: **{run}** m", asterisk=REMOVE)
    assert Status.PARSE_ERROR == outcome(f"FINAL: **{run}** m")


@pytest.mark.parametrize("run", ["2`*`3", "2*`*3", "2`**`3", "`2`**3"])
def test_a_code_mark_does_not_turn_an_operator_into_emphasis(run: str) -> None:
    assert Status.PARSE_ERROR == outcome(f"FINAL: {run} m")
    assert Fraction(23) == outcome(f"FINAL: {run} m", asterisk=REMOVE)


@pytest.mark.parametrize(
    ("payload", "wanted"),
    [
        ("1* 2 m", Status.PARSE_ERROR),
        ("1 *2 m", Status.PARSE_ERROR),
        ("12*m", Status.PARSE_ERROR),
        ("12 m*2", Status.UNIT_ERROR),
        ("1`2 m", Fraction(12)),
        ("1.**5 m", Fraction(3, 2)),
        ("1,**234** m", Fraction(1234)),
        ("1**/**2 m", Fraction(1, 2)),
        ("10⁴*5 m", Status.PARSE_ERROR),
        ("١*٢ m", Status.PARSE_ERROR),
        ("45**%**", Status.UNIT_ERROR),
    ],
)
def test_a_run_with_a_digit_on_one_side_only_goes(payload: str, wanted: Fraction | Status) -> None:
    assert wanted == outcome(f"FINAL: {payload}")


def test_lines_are_counted_after_the_rewrite() -> None:
    found = audited("FINAL: 1 m\nfinal: 2 m\n**Final:** 3 m\n- FINAL: 4 m")

    assert (3, Fraction(3)) == (found.verdict.final_lines, found.verdict.value)


def test_a_later_line_in_another_case_outweighs_a_good_one() -> None:
    """The literal audit_v2: it takes the last tag line, and never the best one."""
    assert Status.PARSE_ERROR == outcome("FINAL: **12** m\nFinal: check the units")


@pytest.mark.parametrize("reason", ["length", "other", "eos", "STOP", "", None])
def test_a_truncated_response_stays_truncated(reason: str | None) -> None:
    found = audit("**FINAL:** 12 m", reason, Question(unit=METERS, expected=Fraction(12)))

    assert Verdict(status=Status.TRUNCATION_ERROR, final_lines=0) == found.verdict
    assert () == found.rewrites
    assert found.magnitude_k is None


def test_a_strict_success_is_not_read_again_even_where_the_audit_would_find_another_value() -> None:
    """The audit would take the later line, whose tag is in another case."""
    text, question = "FINAL: 12 m\nFinal: 13 m", Question(unit=METERS, expected=Fraction(12))

    assert Status.VALUE_ERROR is audit(text, "stop", question).verdict.status
    assert second_reading(judge(text, "stop", question).status, text, "stop", question) is None
    assert audit(text, "stop", question) == second_reading(Status.FORMAT_ERROR, text, "stop", question)


# What the rewrite did

CODE, EMPHASIS, TAG_CASE, NOTATION = Rewrite


@pytest.mark.parametrize(
    ("text", "rewrites"),
    [
        ("FINAL: 12 m", ()),
        ("**Note** `x` × 10^4\nFINAL: 12 m", ()),
        ("final: 13 m\nFINAL: 12 m\n**done**", ()),
        ("FINAL: **12** m", (EMPHASIS,)),
        ("* FINAL: 12 m", (EMPHASIS,)),
        ("FINAL: `12` m", (CODE,)),
        ("Final: 12 m", (TAG_CASE,)),
        ("FINAL: 1.5 × 10^4 m", (NOTATION,)),
        ("`**Final:**` 1.5 × 10⁴ m", (CODE, EMPHASIS, TAG_CASE, NOTATION)),
        ("FINAL: 2**3 m", ()),
        ("FINAL: 2**3** m", (EMPHASIS,)),
        ("FINAL: 2`*`3 m", (CODE,)),
        ("**a**\r*b*\r\n\n`c`\nFINAL: 12 **m**\n`d`", (EMPHASIS,)),
        ("a\r*\nFINAL: `12` m", (CODE,)),
        ("a\r`\n**\rb\r\nFINAL: **12** m", (EMPHASIS,)),
        ("FINAL: 12 m\r*\n", ()),
    ],
)
def test_the_parts_of_the_rewrite_that_changed_the_judged_line_are_named(
    text: str, rewrites: tuple[Rewrite, ...]
) -> None:
    assert rewrites == audited(text).rewrites


def test_removing_an_operator_is_emphasis_in_the_papers_reading() -> None:
    assert (Rewrite.EMPHASIS,) == audited("FINAL: 2**3 m", asterisk=REMOVE).rewrites
    assert () == audited("FINAL: 2**3 m", asterisk=KEEP).rewrites


# Magnitude drops


@pytest.mark.parametrize("k", [k for k in range(-17, 18) if k])
@pytest.mark.parametrize("expected", ["15", "-15", "1/3", "37/4", "1000", "123456789/1000000"])
def test_an_exact_power_of_ten_up_to_15_is_a_magnitude_drop(k: int, expected: str) -> None:
    """value × 10^k = expected."""
    wanted = Fraction(expected)
    value = wanted / Fraction(10) ** k
    found = audited(f"FINAL: {value.numerator}/{value.denominator} km", KILOMETERS, wanted)

    assert Status.VALUE_ERROR == found.verdict.status
    assert (k if abs(k) <= MAGNITUDE_LIMIT else None) == found.magnitude_k
    assert 15 == MAGNITUDE_LIMIT


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ("15 km", "15"),
        ("-150 km", "15"),
        ("0 km", "15"),
        ("150 km", "0"),
        ("0 km", "0"),
        ("150.0000000001 km", "15"),
        ("151 km", "15"),
        ("20 km", "1"),
        ("150", "15"),
        ("150 L", "15"),
        ("1,50 km", "15"),
        ("1e-1000 km", "15"),
        ("1e1000 km", "15"),
    ],
)
def test_anything_else_is_none(payload: str, expected: str) -> None:
    assert audited(f"FINAL: {payload}", KILOMETERS, Fraction(expected)).magnitude_k is None


def test_a_drop_is_seen_in_the_unit_asked_for() -> None:
    assert 3 == audited("FINAL: 15 m", KILOMETERS, Fraction(15)).magnitude_k
    assert -3 == audited("FINAL: 1.5 × 10^4 km", KILOMETERS, Fraction(15)).magnitude_k
    assert 2 == audited("FINAL: **0.45%**", DIMENSIONLESS, Fraction(9, 20)).magnitude_k
