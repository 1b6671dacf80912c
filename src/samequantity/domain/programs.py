"""Typed expressions over named quantities: what a problem computes, checked for dimension and evaluated exactly."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from samequantity.domain.units import DIMENSIONLESS, HOURS, KILOMETERS, KM_PER_HOUR, Dimension, Unit


class DimensionError(ValueError):
    """An operation on quantities that it is not defined for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """An exact number of a unit."""

    value: Fraction
    unit: Unit

    def to(self, unit: Unit) -> "Quantity":
        """The same quantity in another unit of its dimension."""
        return Quantity(value=self.unit.convert(self.value, unit), unit=unit)


Parameters = Mapping[str, Quantity]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named quantity of the problem."""

    name: str

    def __str__(self) -> str:
        return self.name

    def evaluate(self, parameters: Parameters) -> Quantity:
        """The parameter's own quantity; KeyError when the problem has none of this name."""
        return parameters[self.name]


@dataclass(frozen=True, slots=True)
class Add:
    """The sum of two quantities of one dimension, in the left one's unit."""

    left: "Expression"
    right: "Expression"

    def __str__(self) -> str:
        return f"add({self.left}, {self.right})"

    def evaluate(self, parameters: Parameters) -> Quantity:
        """The exact sum; DimensionError for two dimensions."""
        left, right = _alike(self, self.left.evaluate(parameters), self.right.evaluate(parameters))
        return Quantity(value=left.value + right.value, unit=left.unit)


@dataclass(frozen=True, slots=True)
class Subtract:
    """The difference of two quantities of one dimension, in the left one's unit."""

    left: "Expression"
    right: "Expression"

    def __str__(self) -> str:
        return f"subtract({self.left}, {self.right})"

    def evaluate(self, parameters: Parameters) -> Quantity:
        """The exact difference; DimensionError for two dimensions."""
        left, right = _alike(self, self.left.evaluate(parameters), self.right.evaluate(parameters))
        return Quantity(value=left.value - right.value, unit=left.unit)


@dataclass(frozen=True, slots=True)
class Multiply:
    """An integer number of times a quantity."""

    times: "Expression"
    quantity: "Expression"

    def __str__(self) -> str:
        return f"multiply({self.times}, {self.quantity})"

    def evaluate(self, parameters: Parameters) -> Quantity:
        """The exact product; DimensionError unless `times` is a bare integer."""
        times, quantity = self.times.evaluate(parameters), self.quantity.evaluate(parameters)
        if times.unit != DIMENSIONLESS or times.value.denominator != 1:
            raise DimensionError(f"{self}: {times.value} {times.unit} is not an integer multiplier")
        return Quantity(value=times.value * quantity.value, unit=quantity.unit)


@dataclass(frozen=True, slots=True)
class Take:
    """A fraction f of a quantity, 0 < f < 1."""

    fraction: "Expression"
    quantity: "Expression"

    def __str__(self) -> str:
        return f"take({self.fraction}, {self.quantity})"

    def evaluate(self, parameters: Parameters) -> Quantity:
        """The exact part; DimensionError unless the fraction is a bare number between 0 and 1."""
        fraction, quantity = self.fraction.evaluate(parameters), self.quantity.evaluate(parameters)
        if fraction.unit != DIMENSIONLESS or not 0 < fraction.value < 1:
            raise DimensionError(f"{self}: {fraction.value} {fraction.unit} is not a fraction of a whole")
        return Quantity(value=fraction.value * quantity.value, unit=quantity.unit)


@dataclass(frozen=True, slots=True)
class Divide:
    """A length over a duration, in km/h: the one quotient of the registry."""

    length: "Expression"
    duration: "Expression"

    def __str__(self) -> str:
        return f"divide({self.length}, {self.duration})"

    def evaluate(self, parameters: Parameters) -> Quantity:
        """The exact speed; DimensionError for other dimensions."""
        length, duration = self.length.evaluate(parameters), self.duration.evaluate(parameters)
        if length.unit.dimension is not Dimension.LENGTH or duration.unit.dimension is not Dimension.DURATION:
            raise DimensionError(f"{self}: {length.unit} over {duration.unit} is not a speed")
        return Quantity(value=length.to(KILOMETERS).value / duration.to(HOURS).value, unit=KM_PER_HOUR)


Expression = Parameter | Add | Subtract | Multiply | Take | Divide


def _alike(operation: Add | Subtract, left: Quantity, right: Quantity) -> tuple[Quantity, Quantity]:
    if left.unit.dimension is not right.unit.dimension:
        raise DimensionError(f"{operation}: {left.unit} and {right.unit} differ in dimension")
    return left, right.to(left.unit)
