"""Numbers, programs and streams are exact, and the same in every run."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samequantity.domain.programs import (
    Add,
    DimensionError,
    Divide,
    Expression,
    Multiply,
    Parameter,
    Quantity,
    Subtract,
    Take,
)
from samequantity.domain.rationals import (
    as_decimal,
    as_fraction,
    as_scientific,
    as_words,
    decimal_places,
    power_of_ten_between,
    terminating,
)
from samequantity.domain.streams import Stream
from samequantity.domain.units import (
    CENTIMETERS,
    DIMENSIONLESS,
    HOURS,
    KILOMETERS,
    KM_PER_HOUR,
    LITERS,
    METERS,
    MILLILITERS,
    REGISTRY,
    Unit,
    UnknownUnitError,
    unit_named,
)
from samequantity.domain.views import Family, split_view_id

DECIMALS = st.builds(
    lambda digits, places: Fraction(digits, 10**places), st.integers(-(10**15), 10**15), st.integers(0, 9)
)


@settings(deadline=None)
@given(value=DECIMALS)
def test_a_decimal_is_read_back_and_has_no_needless_digit(value):
    text = as_decimal(value)

    assert value == terminating(text) == Fraction(text)
    assert decimal_places(value) == len(text.partition(".")[2])
    assert not ("." in text and text.endswith("0"))
    assert text != "-0"


@settings(deadline=None)
@given(value=st.integers(1, 10**18))
def test_scientific_notation_is_the_integer_exactly(value):
    mantissa, _, exponent = as_scientific(value).partition(" × 10^")

    assert value == Fraction(mantissa) * 10 ** int(exponent)
    assert 1 <= Fraction(mantissa) < 10
    assert str(int(exponent)) == exponent


@pytest.mark.parametrize(
    ("value", "text"), [("14940", "1.494 × 10^4"), ("10", "1 × 10^1"), ("7", "7 × 10^0"), ("999", "9.99 × 10^2")]
)
def test_scientific_notation_by_example(value: str, text: str) -> None:
    assert text == as_scientific(Fraction(value))


def test_what_a_form_cannot_write_is_refused() -> None:
    for writer, values in {
        as_decimal: ["1/3", "1/7"],
        as_fraction: ["3", "0"],
        as_scientific: ["0", "-5", "1/2"],
        as_words: ["13", "-1", "1/2"],
    }.items():
        for value in values:
            with pytest.raises(ValueError, match=value):
                writer(Fraction(value))
    for text in ("", "1.", ".5", "1e3", "1/2", " 1", "1_0", "١", "+1", "1,000", "1\n"):
        with pytest.raises(ValueError, match="not a plain decimal"):
            terminating(text)


def test_words_are_those_of_the_integers() -> None:
    words = "zero one two three four five six seven eight nine ten eleven twelve"

    assert words == " ".join(as_words(Fraction(value)) for value in range(13))


@settings(deadline=None)
@given(value=st.fractions(max_denominator=10**4), other=st.fractions(max_denominator=10**4))
def test_a_power_of_ten_between_two_numbers_is_the_one_that_multiplies(value, other):
    found = power_of_ten_between(value, other, 15)
    powers = [k for k in range(-15, 16) if k and value and value * Fraction(10) ** k == other]

    assert powers == ([] if found is None else [found])


VALUES = {
    "a": Quantity(value=Fraction(5, 2), unit=LITERS),
    "b": Quantity(value=Fraction(500), unit=MILLILITERS),
    "d": Quantity(value=Fraction(90), unit=KILOMETERS),
    "h": Quantity(value=Fraction(8, 5), unit=HOURS),
    "m": Quantity(value=Fraction(7, 3), unit=METERS),
    "n": Quantity(value=Fraction(3), unit=DIMENSIONLESS),
    "f": Quantity(value=Fraction(3, 8), unit=DIMENSIONLESS),
    "one": Quantity(value=Fraction(1), unit=DIMENSIONLESS),
}
P = {name: Parameter(name) for name in VALUES}


@pytest.mark.parametrize(
    ("program", "value", "unit"),
    [
        (Add(P["a"], P["b"]), "3", LITERS),
        (Add(P["b"], P["a"]), "3000", MILLILITERS),
        (Subtract(P["a"], P["b"]), "2", LITERS),
        (Multiply(P["n"], P["m"]), "7", METERS),
        (Take(P["f"], P["a"]), "15/16", LITERS),
        (Divide(P["d"], P["h"]), "225/4", KM_PER_HOUR),
        (Divide(P["m"], P["h"]), str(Fraction(7, 3000) / Fraction(8, 5)), KM_PER_HOUR),
        (Take(P["f"], Multiply(P["n"], Add(P["a"], P["b"]))), "27/8", LITERS),
    ],
)
def test_a_program_is_evaluated_exactly_and_in_its_unit(program: Expression, value: str, unit: Unit) -> None:
    assert Quantity(value=Fraction(value), unit=unit) == program.evaluate(VALUES)


@pytest.mark.parametrize(
    "program",
    [
        *(Add(P["a"], P["d"]), Subtract(P["m"], P["h"]), Add(P["n"], P["a"])),
        *(Multiply(P["f"], P["a"]), Multiply(P["a"], P["a"]), Multiply(P["h"], P["m"])),
        *(Take(P["n"], P["a"]), Take(P["one"], P["a"]), Take(P["a"], P["a"])),
        *(Divide(P["a"], P["h"]), Divide(P["d"], P["m"]), Divide(P["d"], P["n"])),
    ],
    ids=str,
)
def test_a_program_of_the_wrong_dimension_is_refused_by_name(program: Expression) -> None:
    with pytest.raises(DimensionError):
        program.evaluate(VALUES)


def test_the_registry_is_the_protocols() -> None:
    factors = {
        (MILLILITERS, LITERS): Fraction(1, 1000),
        (METERS, KILOMETERS): Fraction(1, 1000),
        (CENTIMETERS, METERS): Fraction(1, 100),
        (unit_named("percent"), DIMENSIONLESS): Fraction(1, 100),
        (unit_named("decimal"), DIMENSIONLESS): Fraction(1),
    }
    names = "liters milliliters kilometers meters centimeters km/h hours dimensionless decimal fraction percent"

    assert set(names.split()) == set(REGISTRY)
    for (small, large), factor in factors.items():
        assert factor == small.convert(Fraction(1), large) == 1 / large.convert(Fraction(1), small)
    assert not HOURS.words | HOURS.symbols
    for name in ("litres", "L", "Liters", ""):
        with pytest.raises(UnknownUnitError):
            unit_named(name)
    with pytest.raises(ValueError, match="liters do not convert to meters"):
        LITERS.convert(Fraction(1), METERS)


def test_a_stream_is_the_same_in_every_version_of_python() -> None:
    first, second = Stream("samequantity/test"), Stream("samequantity/test")
    drawn = [first.below(1000) for _ in range(12)]

    assert [second.below(1000) for _ in range(12)] == drawn
    assert [318, 293, 349, 172, 342, 496, 87, 276, 753, 942, 646, 235] == drawn
    assert drawn != [Stream("samequantity/other").below(1000) for _ in range(12)]


@settings(deadline=None, max_examples=50)
@given(name=st.text(st.characters(exclude_categories=["Cs"])), bound=st.integers(1, 2**32))
def test_a_draw_is_below_its_bound(name, bound):
    stream = Stream(name)

    assert all(0 <= stream.below(bound) < bound for _ in range(20))


def test_every_value_of_a_small_bound_is_drawn() -> None:
    stream = Stream("even")
    drawn = [stream.below(4) for _ in range(4000)]

    assert {0, 1, 2, 3} == set(drawn)
    assert all(850 < drawn.count(value) < 1150 for value in range(4))
    for bound in (0, -1, 2**32 + 1):
        with pytest.raises(ValueError, match="cannot draw below"):
            stream.below(bound)


def test_a_views_name_is_taken_apart() -> None:
    assert ("combined_volume-0001", Family.FRACTION) == split_view_id("combined_volume-0001/fraction")
    for name in ("combined_volume-0001", "/fraction", "a/roman", "a/", ""):
        with pytest.raises(ValueError, match=r"roman|''|base id|family|valid"):
            split_view_id(name)
