"""What is a number of an answer and what is none, decision by decision (PROTOCOL section 4)."""

from fractions import Fraction

import pytest

from samequantity.domain.answers import MAX_NUMBER
from samequantity.domain.units import DIMENSIONLESS, KM_PER_HOUR, LITERS, METERS
from samequantity.domain.verdicts import Status
from transcripts import final, outcome, words

# Numbers (Q07 to Q13, Q32, Q35, Q36)

READ = {
    "12": "12",
    "+12": "12",
    "-12": "-12",
    "-0": "0",
    "-0.0": "0",
    "+0/5": "0",
    "-0e5": "0",
    "000": "0",
    "0012.50": "25/2",
    "-007": "-7",
    "12.0": "12",
    "0.125": "1/8",
    "1,234": "1234",
    "-1,234.5": "-2469/2",
    "12,345,678.9": "123456789/10",
    "999,000": "999000",
    "1/2": "1/2",
    "-6/4": "-3/2",
    "+6/3": "2",
    "007/014": "1/2",
    "0/7": "0",
    "1e3": "1000",
    "1E+04": "10000",
    "-2.5e-3": "-1/400",
    "1e0": "1",
    "1e-0": "1",
    "007.50e1": "75",
    "1e0003": "1000",
    "0e1000": "0",
    "1e1000": str(10**1000),
    "1e+0001000": str(10**1000),
    "1e-1000": f"1/{10**1000}",
    "0.1e1000": str(10**999),
    "9" * 100: "9" * 100,
    "0." + "0" * 97 + "1": f"1/{10**98}",
    "-" + "1" * 99: "-" + "1" * 99,
    "3" * 50 + "/" + "9" * 49: str(Fraction(int("3" * 50), int("9" * 49))),
}

NO_NUMBER = [
    # signs, words and brackets
    *words(
        ". - + % x e5 /2 1/ e one ? =12 (12) [12] <12> $12 ~12 ≈12 --1 +-1 -+1 −5 –5 —5 ±5 5- 10-12 10–12 twelve V ="
    ),
    # points and groups
    *words(
        ".5 -.5 5. 1.5. 1..5 1.2.3 0.333... 12.. .5e3 5.e3 0,125 00,125 012,345 1,23 1,2345 1234,567 12,34 1,234,56"
    ),
    *words(",123 1,,234 1,234, 1, 1.234,5 1.5,000 -,123 1,234e3 1,234.5e3 1,500/2 1/1,500 1,234/5"),
    # fractions
    *words("1.5/2 1/2.5 1/2/3 3/-4 3/+4 1/0 0/0 1/000 -1/0 1//2 1⁄2 1∕2 1÷2 ½ 1½ 1e3/2 1/2e3"),
    # exponents and operators
    *words("1e 1e+ 1e--3 1e3e3 1e1.5 1ee3 1e1001 1e-1001 0e1001 1e+01001 1e99999999 1e−3 1e³ 1×10^3 1x10^3 10^3 10³"),
    *words("2**3 2*3 1_000 1'234 1’234 1·5 0x1F 0b1 0o7 1j 1L inf -inf nan Infinity true"),
    # other digits, other percent signs, marks
    *words("١٢ １２ 1２ १२ 𝟏𝟐 ① ² Ⅻ 十二 12° 12%% 12%5 12٪ 12％ 12\\% **12** `12` 12`"),
    # one character more than 100
    *("9" * 101, "1/" + "9" * 99, "0." + "0" * 98 + "1", "-" + "1" * 100, "1e" + "0" * 98 + "1"),
    # what no keyboard has
    *("12\u0301", "\x00", "12\x00", "\ud800", "12\udfff"),
]


@pytest.mark.parametrize(("number", "value"), READ.items())
def test_a_number_of_the_grammar_is_read_exactly(number: str, value: str) -> None:
    assert Fraction(value) == final(f"{number} L")
    assert Fraction(value) == final(number, DIMENSIONLESS)
    assert Fraction(value) / 100 == final(f"{number}%", DIMENSIONLESS)


@pytest.mark.parametrize("number", NO_NUMBER)
def test_anything_else_is_no_number(number: str) -> None:
    assert Status.PARSE_ERROR == final(f"{number} L")
    assert Status.PARSE_ERROR == final(f"{number} parsecs"), "the number is judged before the unit"
    assert Status.PARSE_ERROR == outcome(f"FINAL:{number} L")


@pytest.mark.parametrize("payload", ["", " ", ".", " . ", "\u3000", "..", ". .", "L", "%", "liters 12", "L.", ". 12 L"])
def test_a_payload_without_a_number_first_is_refused(payload: str) -> None:
    assert Status.PARSE_ERROR == final(payload)
    assert Status.PARSE_ERROR == final(payload, DIMENSIONLESS)


def test_the_bounds_of_a_number_are_where_they_are_said_to_be() -> None:
    """Q13: 100 characters, of which a percent sign is none; exponents up to 1000."""
    assert 100 == MAX_NUMBER
    assert Fraction(int("9" * 100), 100) == final("9" * 100 + "%", DIMENSIONLESS)
    assert Status.PARSE_ERROR == final("9" * 101 + "%", DIMENSIONLESS)
    assert Fraction(10) ** 1003 == final("1e1000 kilometers", METERS)


# What follows the number (Q05, Q06)

GOES_ON = [
    *words("234 1/2 + - − – — / /2 × ×10^4 · ⋅ ^ ^2 ± .5 , .. +3 /h x X x10^4 X10 x2 e4 E4 e+4 E-04 \\times \\cdot10"),
    *words("\\timesx * ** *** *10 **2 *½ ½ ² ⁴ ٣ １ 十 ① Ⅻ 𝟏 2x 1e5"),
    *("5 L", "× 10^4", "± 0.5", ",500 L", ". L", "-5 L", "- L", "x 10^4", "X 10^4", "e4 L", "\\times 10^4", "* 10^4"),
    *("* L", "**2 L", "³ L"),
]
IS_A_UNIT = [
    *words("xL xx Xs x^2 x² xx10 e E eL e+ e-L exp4 \\text{L} \\ \\tims *L **L** *L* *-1 *.5 = (L) ≈ ~ ' \" <L>"),
    *words(": ; ! ? ÷ ∙ • ∗ ⨯ ✕ of to dozen \\( $ _ L² °C"),
    *("e L", "\\ L", "= 5", "(5 L)", "or 13 L", "million L"),
]


@pytest.mark.parametrize("rest", GOES_ON)
def test_a_number_that_goes_on_after_a_blank_is_no_number(rest: str) -> None:
    assert Status.PARSE_ERROR == final(f"12 {rest}", LITERS)
    assert Status.PARSE_ERROR == final(f"12\u00a0\t{rest} L", LITERS)
    assert Status.PARSE_ERROR == final(f"12% {rest} L", DIMENSIONLESS)


@pytest.mark.parametrize("rest", IS_A_UNIT)
def test_any_other_token_after_a_number_is_its_unit(rest: str) -> None:
    assert Status.UNIT_ERROR == final(f"12 {rest}")
    assert Status.UNIT_ERROR == final(f"12 {rest}", DIMENSIONLESS)


@pytest.mark.parametrize("payload", ["3.5L", "60km/h", "12liters", "1/2L", "1e3m", "12,000mL", "12L.", "45percent"])
def test_a_glued_unit_is_no_number(payload: str) -> None:
    """Q05."""
    for unit in (LITERS, KM_PER_HOUR, DIMENSIONLESS):
        assert Status.PARSE_ERROR == final(payload, unit)
