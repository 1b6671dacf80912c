"""The closed registry of units (PROTOCOL section 3), with exact factors between units of one dimension."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class Dimension(StrEnum):
    """What kind of quantity it is; only equal kinds convert."""

    VOLUME = "volume"
    LENGTH = "length"
    SPEED = "speed"
    DIMENSIONLESS = "dimensionless"
    DURATION = "duration"


class UnknownUnitError(ValueError):
    """A unit's name that the registry does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One registered unit.

    `factor` converts to the dimension's reference (liters, meters, km/h, one, hours). `words` are the spellings that
    an answer may use in any case, `symbols` those that count in exactly this case; both are empty for a unit that no
    answer may carry.
    """

    name: str
    dimension: Dimension
    factor: Fraction
    words: frozenset[str] = frozenset()
    symbols: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.factor <= 0:
            raise ValueError(f"unit {self.name}: the factor {self.factor} is not positive")

    def __str__(self) -> str:
        return self.name

    def convert(self, value: Fraction, target: "Unit") -> Fraction:
        """`value` of this unit, in `target`; ValueError across dimensions."""
        if self.dimension is not target.dimension:
            raise ValueError(f"{self} do not convert to {target}")
        return value * self.factor / target.factor


def _metric(stem: str, dimension: Dimension, factor: Fraction, *symbols: str) -> Unit:
    """A unit with its plural, singular and British spellings: meters, meter, metres, metre."""
    british = stem.removesuffix("er") + "re"
    words = frozenset({stem, f"{stem}s", british, f"{british}s"})
    return Unit(name=f"{stem}s", dimension=dimension, factor=factor, words=words, symbols=frozenset(symbols))


LITERS = _metric("liter", Dimension.VOLUME, Fraction(1), "L", "l")
MILLILITERS = _metric("milliliter", Dimension.VOLUME, Fraction(1, 1000), "mL", "ml")
METERS = _metric("meter", Dimension.LENGTH, Fraction(1), "m")
KILOMETERS = _metric("kilometer", Dimension.LENGTH, Fraction(1000), "km")
CENTIMETERS = _metric("centimeter", Dimension.LENGTH, Fraction(1, 100), "cm")
KM_PER_HOUR = Unit(
    name="km/h",
    dimension=Dimension.SPEED,
    factor=Fraction(1),
    words=frozenset(f"{word} per hour" for word in KILOMETERS.words),
    symbols=frozenset({"km/h"}),
)
HOURS = Unit(name="hours", dimension=Dimension.DURATION, factor=Fraction(1))
# A dimensionless question asks for a bare number; the three words below are ways of saying so in an answer.
DIMENSIONLESS = Unit(name="dimensionless", dimension=Dimension.DIMENSIONLESS, factor=Fraction(1))
DECIMAL = Unit(name="decimal", dimension=Dimension.DIMENSIONLESS, factor=Fraction(1), words=frozenset({"decimal"}))
FRACTION = Unit(name="fraction", dimension=Dimension.DIMENSIONLESS, factor=Fraction(1), words=frozenset({"fraction"}))
PERCENT = Unit(
    name="percent",
    dimension=Dimension.DIMENSIONLESS,
    factor=Fraction(1, 100),
    words=frozenset({"percent"}),
    symbols=frozenset({"%"}),
)

REGISTRY = {
    unit.name: unit
    for unit in (
        LITERS, MILLILITERS, KILOMETERS, METERS, CENTIMETERS, KM_PER_HOUR, HOURS, DIMENSIONLESS, DECIMAL, FRACTION,
        PERCENT,
    )
}  # fmt: skip

_BY_WORD = {word: unit for unit in REGISTRY.values() for word in unit.words}
_BY_SYMBOL = {symbol: unit for unit in REGISTRY.values() for symbol in unit.symbols}


def unit_named(name: str) -> Unit:
    """The registered unit of exactly this name."""
    try:
        return REGISTRY[name]
    except KeyError:
        raise UnknownUnitError(f"unknown unit {name!r}; the registry holds {', '.join(sorted(REGISTRY))}") from None


def answered_unit(text: str) -> Unit | None:
    """The unit that an answer names with `text` (single blanks between words), or None when it names none."""
    if not text.isascii():  # lower() turns the Kelvin sign into k
        return None
    return _BY_SYMBOL.get(text) or _BY_WORD.get(text.lower())
