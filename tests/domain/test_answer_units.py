"""What is a unit of an answer and what it converts to (PROTOCOL sections 3 and 4)."""

from fractions import Fraction

import pytest

from samequantity.domain.units import (
    CENTIMETERS,
    DIMENSIONLESS,
    KILOMETERS,
    KM_PER_HOUR,
    LITERS,
    METERS,
    MILLILITERS,
    REGISTRY,
    Unit,
)
from samequantity.domain.verdicts import Status
from transcripts import final

# Units (Q14 to Q23)

SPELLINGS = {
    "liters": "L l liter liters litre litres",
    "milliliters": "mL ml milliliter milliliters millilitre millilitres",
    "meters": "m meter meters metre metres",
    "kilometers": "km kilometer kilometers kilometre kilometres",
    "centimeters": "cm centimeter centimeters centimetre centimetres",
}
INFORMAL = {
    LITERS: "ML Ml mLs ls Ls lt ltr liter's L/h cc cl dl gallons ℓ ㎖ ㎘ litеrs LITERſ liters/hour dimensionless hours",
    KILOMETERS: "KM Km kM KMS kms k ㎞ \u212aM \u212ailometers \u212am K kilometer/hour Kilo-meters km² m² m2 mm miles",
    METERS: "M Meter(s) mtr ms CM Cm cM ㎝ ft metros mètre µm",
    KM_PER_HOUR: "kph KPH km/hr km/hour kmh kmph km/H KM/H Km/h km/s m/s mph km·h⁻¹ km⋅h⁻¹ kmh⁻¹ km km/ h",
    DIMENSIONLESS: "pct per cent percents percentage decimals fractions dimensionless unit none L km L/L ％ ٪ %% ratio",
}


@pytest.mark.parametrize("unit", SPELLINGS)
def test_names_are_read_in_any_case_and_symbols_in_their_own(unit: str) -> None:
    registered = REGISTRY[unit]
    asked = MILLILITERS if registered.dimension is LITERS.dimension else CENTIMETERS
    value = 12 * registered.factor / asked.factor
    for spelling in SPELLINGS[unit].split():
        assert value == final(f"12 {spelling}", asked)
        if len(spelling) > 2:
            assert value == final(f"12 {spelling.upper()}.", asked)
            assert value == final(f"12 {spelling.title()} .", asked)
            assert value == final(f"12 {spelling[:3]}{spelling[3:].swapcase()}", asked)
    assert set(SPELLINGS[unit].split()) == registered.words | registered.symbols


@pytest.mark.parametrize("word", ["kilometer", "kilometers", "kilometre", "KILOMETERS", "Kilometres"])
def test_the_speed_has_a_name_of_three_words(word: str) -> None:
    """Q18."""
    assert Fraction(60) == final(f"60 {word} per hour", KM_PER_HOUR)
    assert Fraction(60) == final(f"60 {word}\t PER \u3000Hour", KM_PER_HOUR)
    assert Fraction(60) == final("60 km/h", KM_PER_HOUR)
    for wrong in ("per hours", "per  hour L", "per", "an hour", "/ hour", "per\u200bhour", "per h", "perhour"):
        assert Status.UNIT_ERROR == final(f"60 {word} {wrong}", KM_PER_HOUR)
    assert Status.UNIT_ERROR == final("60 km per hour", KM_PER_HOUR)
    assert Status.UNIT_ERROR == final("60 meters per hour", KM_PER_HOUR)


@pytest.mark.parametrize("unit", INFORMAL, ids=str)
def test_informal_forms_and_look_alikes_are_unit_errors(unit: Unit) -> None:
    """Q19; the Kelvin sign, the long s and a Cyrillic letter lower to, or look like, an ASCII letter."""
    for form in INFORMAL[unit].split():
        assert Status.UNIT_ERROR == final(f"12 {form}", unit), form


def test_a_unit_of_the_dimension_converts_exactly_and_no_other_does() -> None:
    """Q23 and section 3."""
    answers = {unit: symbol for unit in REGISTRY.values() for symbol in sorted(unit.symbols | unit.words)[:1]}
    for written, symbol in answers.items():
        for asked in REGISTRY.values():
            got = final(f"7 {symbol}", asked)
            if asked.dimension is written.dimension:
                assert 7 * written.factor / asked.factor == got
            else:
                assert Status.UNIT_ERROR == got
    assert Fraction(5) == final("500000 cm", KILOMETERS)
    assert Fraction(1, 3) == final("1/3 L", LITERS)
    assert Fraction(1000, 3) == final("1/3 L", MILLILITERS)


@pytest.mark.parametrize("payload", ["12", "12.", "12 .", "1,234", "1/2", "1e3"])
def test_a_missing_unit_is_an_error_unless_none_is_asked(payload: str) -> None:
    """Q21, Q22."""
    assert Status.UNIT_ERROR == final(payload, LITERS)
    assert Status.UNIT_ERROR == final(payload, KM_PER_HOUR)
    assert Fraction(payload.rstrip(" .").replace(",", "")) == final(payload, DIMENSIONLESS)


@pytest.mark.parametrize("written", ["45%", "45 %", "45% ", "45\u202f%", "45 percent", "45 PERCENT", "45%.", "45 % ."])
def test_percent_is_a_hundredth(written: str) -> None:
    """Q20."""
    assert Fraction(9, 20) == final(written, DIMENSIONLESS)
    assert Status.UNIT_ERROR == final(written, LITERS)
    assert Status.UNIT_ERROR == final(written, KM_PER_HOUR)


@pytest.mark.parametrize("written", ["-45%", "+0.5%", "1/2%", "1,234.5%", "1e3%", "0%", "12.50 %"])
def test_every_number_may_carry_a_percent_sign(written: str) -> None:
    number = written.rstrip(" %").replace(",", "")

    assert Fraction(number) / 100 == final(written, DIMENSIONLESS)


@pytest.mark.parametrize("rest", ["L", "liters", "of the tank", "percent", "%", "% L", "decimal", "fraction", "km/h"])
def test_a_percent_followed_by_anything_is_a_unit_error(rest: str) -> None:
    """Q22."""
    for unit in (LITERS, DIMENSIONLESS, KM_PER_HOUR):
        assert Status.UNIT_ERROR == final(f"45% {rest}", unit)


def test_percent_signs_that_do_not_end_one_number() -> None:
    assert Status.PARSE_ERROR == final("45%%", DIMENSIONLESS)
    assert Status.PARSE_ERROR == final("%45", DIMENSIONLESS)
    assert Status.PARSE_ERROR == final("45.%", DIMENSIONLESS)
    assert Status.PARSE_ERROR == final("4%5", DIMENSIONLESS)
    assert Status.UNIT_ERROR == final("45 %%", DIMENSIONLESS)


@pytest.mark.parametrize("word", ["decimal", "fraction", "Decimal", "FRACTION"])
def test_decimal_and_fraction_are_units_of_a_bare_number(word: str) -> None:
    assert Fraction(9, 20) == final(f"0.45 {word}", DIMENSIONLESS)
    assert Fraction(9, 20) == final(f"9/20 {word}.", DIMENSIONLESS)
    assert Status.UNIT_ERROR == final(f"0.45 {word}", LITERS)


# The trailing period (Q08, Q31)


@pytest.mark.parametrize("payload", ["12 L.", "12 L .", "12 L. ", "12 L\u3000.\u00a0", "12.0 L."])
def test_one_trailing_period_is_tolerated(payload: str) -> None:
    assert Fraction(12) == final(payload)


@pytest.mark.parametrize(
    "payload", ["12 L..", "12 L. .", "12 L . .", "12 L.,", "12 L!", "12 L;", "12 L\u3002", "12 L…"]
)
def test_more_than_one_period_or_another_sign_is_not(payload: str) -> None:
    assert Status.UNIT_ERROR == final(payload)


def test_a_period_before_the_unit_is_never_the_trailing_one() -> None:
    assert Status.PARSE_ERROR == final("12. L")
    assert Status.PARSE_ERROR == final("12 . L")
    assert Status.PARSE_ERROR == final("12..", DIMENSIONLESS)
    assert Status.PARSE_ERROR == final("12 ..", DIMENSIONLESS)
    assert Fraction(12) == final("12.", DIMENSIONLESS)
