"""The benchmark as configured: seed, versions, and for each template its size, ranges and family quotas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Self

from samequantity.domain.rationals import terminating
from samequantity.domain.templates import TEMPLATES, TemplateName
from samequantity.domain.units import Unit, UnknownUnitError, unit_named
from samequantity.domain.views import Family
from samequantity.errors import SettingsError


class BenchmarkError(SettingsError):
    """A benchmark's configuration that cannot be used; the message names the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRange:
    """The values of one parameter: first, first + step, … up to last; without the integers where `integers` is false."""

    first: Fraction
    last: Fraction
    step: Fraction
    integers: bool

    def __post_init__(self) -> None:
        if self.step <= 0 or self.last < self.first:
            raise BenchmarkError(f"the range from {self.first} to {self.last} by {self.step} is empty")

    @property
    def positions(self) -> int:
        """How many steps the range has, admissible or not."""
        return int((self.last - self.first) / self.step) + 1

    def at(self, position: int) -> Fraction | None:
        """The value at a position, None where the range leaves it out."""
        value = self.first + position * self.step
        return value if self.integers or value.denominator != 1 else None

    def values(self) -> Iterator[Fraction]:
        """Every value of the range."""
        return (value for position in range(self.positions) if (value := self.at(position)) is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterChoice:
    """The listed values of one parameter."""

    choices: tuple[Fraction, ...]

    @property
    def positions(self) -> int:
        """How many values are listed."""
        return len(self.choices)

    def at(self, position: int) -> Fraction:
        """The value at a position."""
        return self.choices[position]

    def values(self) -> Iterator[Fraction]:
        """Every listed value."""
        return iter(self.choices)


Range = ParameterRange | ParameterChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyPlan:
    """How many bases, by identifier, are written in a family, which parameters it rewrites, and in which sub-unit."""

    quota: int
    rewrites: tuple[str, ...]
    sub_unit: Unit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplatePlan:
    """The size of a template in the benchmark."""

    bases: int
    ranges: Mapping[str, Range]
    families: Mapping[Family, FamilyPlan]


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """All that decides the bases and their views, but for the wording."""

    generator: str
    prompt_version: str
    seed: int
    answer_places: int
    templates: Mapping[TemplateName, TemplatePlan]

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Read a parsed `config/benchmark.yaml`; BenchmarkError names a key that is unknown, missing or unusable."""
        _closed(config, {field.name for field in fields(cls)}, "the benchmark")
        return cls(
            generator=config["generator"],
            prompt_version=config["prompt_version"],
            seed=config["seed"],
            answer_places=config["answer_places"],
            templates={_template(name): _plan(_template(name), plan) for name, plan in config["templates"].items()},
        )


def _template(name: str) -> TemplateName:
    try:
        return TemplateName(name)
    except ValueError:
        raise BenchmarkError(f"templates: unknown template {name!r}; there are {', '.join(TemplateName)}") from None


def _plan(name: TemplateName, plan: Mapping[str, Any]) -> TemplatePlan:
    template = TEMPLATES[name]
    where = f"templates.{name}"
    _closed(plan, {"bases", "parameters", "families"}, where)
    _closed(plan["parameters"], set(template.units), f"{where}.parameters")
    families = {
        _family(key, where): _family_plan(value, f"{where}.families.{key}") for key, value in plan["families"].items()
    }
    for family, family_plan in families.items():
        if stray := set(family_plan.rewrites) - set(template.units):
            raise BenchmarkError(f"{where}.families.{family}.rewrites: no parameter {', '.join(sorted(stray))}")
        if family_plan.quota > plan["bases"]:
            raise BenchmarkError(f"{where}.families.{family}.quota: {family_plan.quota} of {plan['bases']} bases")
    ranges = {key: _range(value, f"{where}.parameters.{key}") for key, value in plan["parameters"].items()}
    return TemplatePlan(bases=plan["bases"], ranges=ranges, families=families)


def _family(name: str, where: str) -> Family:
    if name not in set(Family) or name == Family.CANONICAL:
        raise BenchmarkError(f"{where}.families: unknown transformation family {name!r}")
    return Family(name)


def _family_plan(plan: Mapping[str, Any], where: str) -> FamilyPlan:
    _closed(plan, {"quota", "rewrites"} | ({"sub_unit"} if "sub_unit" in plan else set()), where)
    try:
        sub_unit = unit_named(plan["sub_unit"]) if "sub_unit" in plan else None
    except UnknownUnitError as error:
        raise BenchmarkError(f"{where}.sub_unit: {error}") from None
    return FamilyPlan(quota=plan["quota"], rewrites=tuple(plan["rewrites"]), sub_unit=sub_unit)


def _range(plan: Mapping[str, Any], where: str) -> Range:
    if "values" in plan:
        _closed(plan, {"values"}, where)
        return ParameterChoice(choices=tuple(_number(value, where) for value in plan["values"]))
    _closed(plan, {"from", "to", "step", "integers"}, where)
    return ParameterRange(
        first=_number(plan["from"], where),
        last=_number(plan["to"], where),
        step=_number(plan["step"], where),
        integers=plan["integers"],
    )


def _number(value: object, where: str) -> Fraction:
    """An exact decimal; unquoted YAML numbers are refused, since they have been floats on the way here."""
    if not isinstance(value, str):
        raise BenchmarkError(f"{where}: {value!r} must stand in quotes, so that it stays exact")
    try:
        return terminating(value)
    except ValueError as error:
        raise BenchmarkError(f"{where}: {error}") from None


def _closed(config: Mapping[str, Any], keys: set[str], where: str) -> None:
    """Refuse a mistyped key by name, and a missing one."""
    if unknown := set(config) - keys:
        raise BenchmarkError(f"{where}: unknown key {', '.join(sorted(unknown))}; known are {', '.join(sorted(keys))}")
    if missing := keys - set(config):
        raise BenchmarkError(f"{where}: missing key {', '.join(sorted(missing))}")
