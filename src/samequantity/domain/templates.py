"""The six problem templates: what each computes and which parameter values it admits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from samequantity.domain.programs import Add, Divide, Expression, Multiply, Parameter, Subtract, Take
from samequantity.domain.units import DIMENSIONLESS, HOURS, KILOMETERS, KM_PER_HOUR, LITERS, METERS, Unit

Values = Mapping[str, Fraction]


class TemplateName(StrEnum):
    """The templates, in the order of the benchmark's tables."""

    COMBINED_VOLUME = "combined_volume"
    DIFFERENCE_DISTANCE = "difference_distance"
    REPEATED_LENGTH = "repeated_length"
    FRACTION_OF_CAPACITY = "fraction_of_capacity"
    RATE_SPEED = "rate_speed"
    LARGE_VOLUME_ADDITION = "large_volume_addition"


CONSENSUS_TEMPLATES = (
    TemplateName.COMBINED_VOLUME,
    TemplateName.DIFFERENCE_DISTANCE,
    TemplateName.REPEATED_LENGTH,
    TemplateName.FRACTION_OF_CAPACITY,
)
"""The templates of the consensus study, which have two paraphrases each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A family of problems: typed program, units of its parameters, unit of the answer, what holds for every base."""

    name: TemplateName
    program: Expression
    units: Mapping[str, Unit]
    answer_unit: Unit
    admits: Callable[[Values], bool]


def _any(_: Values) -> bool:
    return True


A, B, C, D, F, H, N = (Parameter(name) for name in ("a", "b", "c", "d", "f", "h", "n"))

TEMPLATES = {
    template.name: template
    for template in (
        Template(
            name=TemplateName.COMBINED_VOLUME,
            program=Add(A, B),
            units={"a": LITERS, "b": LITERS},
            answer_unit=LITERS,
            admits=_any,
        ),
        Template(
            name=TemplateName.DIFFERENCE_DISTANCE,
            program=Subtract(A, B),
            units={"a": KILOMETERS, "b": KILOMETERS},
            answer_unit=KILOMETERS,
            admits=lambda values: values["a"] > values["b"],
        ),
        Template(
            name=TemplateName.REPEATED_LENGTH,
            program=Multiply(N, A),
            units={"n": DIMENSIONLESS, "a": METERS},
            answer_unit=METERS,
            admits=lambda values: values["n"].denominator == 1 and 2 <= values["n"] <= 12,
        ),
        Template(
            name=TemplateName.FRACTION_OF_CAPACITY,
            program=Take(F, C),
            units={"f": DIMENSIONLESS, "c": LITERS},
            answer_unit=LITERS,
            admits=lambda values: 0 < values["f"] < 1,
        ),
        Template(
            name=TemplateName.RATE_SPEED,
            program=Divide(D, H),
            units={"d": KILOMETERS, "h": HOURS},
            answer_unit=KM_PER_HOUR,
            admits=lambda values: values["h"] > 0,
        ),
        Template(
            name=TemplateName.LARGE_VOLUME_ADDITION,
            program=Add(A, B),
            units={"a": LITERS, "b": LITERS},
            answer_unit=LITERS,
            admits=lambda values: all(value.denominator == 1 and value > 0 for value in values.values()),
        ),
    )
}
