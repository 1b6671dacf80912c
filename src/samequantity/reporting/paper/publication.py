"""The paper's published figures as `resources/published.yaml` holds them (PROTOCOL, section 9).

A figure says what of ours it stands beside, and makes a statement on each system of which it speaks; numbers are kept
as they are printed. `published` beside this module reads the file, `agreement` compares.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.scoring.measures import Measure

# No sign, no exponent, no grouping, no digits of other scripts.
_PRINTED = re.compile(
    r"""
    [0-9]{1,9} (?: \. [0-9]{1,9} )?   # 13, 6.1, 1.000
    | \. [0-9]{1,9}                   # .915
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A number as it is printed, whose digits say how far it was rounded; ValueError for any other text.

    >>> Printed(text=".910").value, Printed(text=".910").places
    (Fraction(91, 100), 3)
    """

    text: str

    def __post_init__(self) -> None:
        if not _PRINTED.fullmatch(self.text):
            raise ValueError(f"{self.text!r} is not a number as printed, such as .915, 6.1 or 13")

    @property
    def value(self) -> Fraction:
        return Fraction(self.text)

    @property
    def places(self) -> int:
        """Digits after the point."""
        return len(self.text.partition(".")[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A published range, ends included; at least one of them is given."""

    low: Printed | None
    high: Printed | None

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise ValueError("a range without ends says nothing")
        if self.low and self.high and self.low.value > self.high.value:
            raise ValueError(f"the range {self.low.text}–{self.high.text} is empty")

    @property
    def places(self) -> int:
        """Digits after the point, of the end that has more."""
        return max(end.places for end in (self.low, self.high) if end is not None)

    def holds(self, value: Fraction) -> bool:
        """Whether a value lies in it."""
        return (self.low is None or self.low.value <= value) and (self.high is None or value <= self.high.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """k of n, published as k/n, not reduced."""

    numerator: int
    denominator: int

    def __post_init__(self) -> None:
        if not 0 <= self.numerator <= self.denominator or self.denominator == 0:
            raise ValueError(f"{self.numerator}/{self.denominator} is not k/n with k of 0 to n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds:
    """What is published is that something holds: a hypothesis, or a direction."""


Statement = Printed | Range | Pair | Holds


class Unit(StrEnum):
    """In what a figure's numbers are given."""

    RATE = "rate"
    POINTS = "points"
    COUNT = "count"
    TOKENS = "tokens"
    TESTS = "tests"

    @property
    def scale(self) -> int:
        """How many of it are 1: gaps are published in percentage points."""
        return 100 if self is Unit.POINTS else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A published figure of single systems, and what of a system's scores it is about.

    Counts of several measures are added. `magnitude` keeps of the magnitude drops those by this power of ten, in either
    direction. `items` is the paper's number of views, where a comparison makes sense over that number alone.
    """

    name: str
    label: str
    unit: Unit
    layer: Layer | None
    measures: Sequence[Measure]
    family: Family | None
    statements: Mapping[str, Statement]
    magnitude: int | None = None
    items: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedCells:
    """How many audited family gaps of all these systems together are marked, each over so many bases."""

    name: str
    label: str
    systems: Sequence[str]
    items: int
    cells: Printed

    @property
    def unit(self) -> Unit:
        return Unit.COUNT

    @property
    def layer(self) -> Layer:
        return Layer.AUDITED

    @property
    def family(self) -> None:
        """Every transformation."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """Where the figures were published."""

    title: str
    arxiv: str
    year: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What `resources/published.yaml` says about scores; `systems` are the paper's and its names for them, in order."""

    paper: Paper
    systems: Mapping[str, str]
    figures: Sequence[Figure | MarkedCells]
