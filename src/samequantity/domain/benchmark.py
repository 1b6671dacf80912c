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
    """The values of one parameter: first, first + step, … up to last; no integer where `integers` is false."""

    first: Fraction
    last: Fraction
    step: Fraction
    integers: bool

    def __post_init__(self) -> None:
        if self.step <= 0 or self.last < self.first:
            raise ValueError(f"the range from {self.first} to {self.last} by {self.step} is empty")
        # Of two neighbours one is no integer, unless all are.
        if all(self.at(position) is None for position in range(min(2, self.positions))):
            raise ValueError(f"the range from {self.first} to {self.last} by {self.step} holds integers only")

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

    def __post_init__(self) -> None:
        if not self.choices:
            raise ValueError("no value is listed")

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
        templates = config["templates"]
        if not isinstance(templates, Mapping):
            raise BenchmarkError("templates: wanted is a mapping of templates")
        return cls(
            generator=str(config["generator"]),
            prompt_version=str(config["prompt_version"]),
            seed=_whole(config["seed"], "seed"),
            answer_places=_whole(config["answer_places"], "answer_places"),
            templates={_template(name): _plan(_template(name), plan) for name, plan in templates.items()},
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
    bases = _whole(plan["bases"], f"{where}.bases")
    if not isinstance(plan["families"], Mapping):
        raise BenchmarkError(f"{where}.families: wanted is a mapping of families")
    families = {
        _family(key, where): _family_plan(value, f"{where}.families.{key}") for key, value in plan["families"].items()
    }
    for family, family_plan in families.items():
        if stray := set(family_plan.rewrites) - set(template.units):
            raise BenchmarkError(f"{where}.families.{family}.rewrites: no parameter {', '.join(sorted(stray))}")
        if family_plan.quota > bases:
            raise BenchmarkError(f"{where}.families.{family}.quota: {family_plan.quota} of {bases} bases")
        units = {template.units[name].dimension for name in family_plan.rewrites}
        if family is Family.UNIT and (family_plan.sub_unit is None or units - {family_plan.sub_unit.dimension}):
            raise BenchmarkError(f"{where}.families.{family}.sub_unit: wanted is a unit of {', '.join(sorted(units))}")
    ranges = {key: _range(value, f"{where}.parameters.{key}") for key, value in plan["parameters"].items()}
    return TemplatePlan(bases=bases, ranges=ranges, families=families)


def _family(name: str, where: str) -> Family:
    if name not in set(Family) or name == Family.CANONICAL:
        raise BenchmarkError(f"{where}.families: unknown transformation family {name!r}")
    return Family(name)


def _family_plan(plan: Mapping[str, Any], where: str) -> FamilyPlan:
    has_sub_unit = isinstance(plan, Mapping) and "sub_unit" in plan
    _closed(plan, {"quota", "rewrites"} | ({"sub_unit"} if has_sub_unit else set()), where)
    try:
        sub_unit = unit_named(plan["sub_unit"]) if has_sub_unit else None
    except UnknownUnitError as error:
        raise BenchmarkError(f"{where}.sub_unit: {error}") from None
    if not isinstance(plan["rewrites"], list):
        raise BenchmarkError(f"{where}.rewrites: wanted is a list of parameters")
    return FamilyPlan(
        quota=_whole(plan["quota"], f"{where}.quota"), rewrites=tuple(plan["rewrites"]), sub_unit=sub_unit
    )


def _range(plan: Mapping[str, Any], where: str) -> Range:
    listed = isinstance(plan, Mapping) and "values" in plan
    _closed(plan, {"values"} if listed else {"from", "to", "step", "integers"}, where)
    try:
        if listed and not isinstance(plan["values"], list):
            raise ValueError("values is no list")
        if listed:
            return ParameterChoice(choices=tuple(_number(value, f"{where}.values") for value in plan["values"]))
        first, last, step = (_number(plan[key], f"{where}.{key}") for key in ("from", "to", "step"))
        if not isinstance(plan["integers"], bool):
            raise ValueError(f"integers is true or false, not {plan['integers']!r}")
        return ParameterRange(first=first, last=last, step=step, integers=plan["integers"])
    except ValueError as error:
        raise BenchmarkError(f"{where}: {error}") from None


def _number(value: object, where: str) -> Fraction:
    """An exact decimal; unquoted YAML numbers are refused, since they have been floats on the way here."""
    if not isinstance(value, str):
        raise BenchmarkError(f"{where}: {value!r} must stand in quotes, so that it stays exact")
    try:
        return terminating(value)
    except ValueError as error:
        raise BenchmarkError(f"{where}: {error}") from None


def _whole(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BenchmarkError(f"{where}: wanted is an integer from 0 on, not {value!r}")
    return value


def _closed(config: Mapping[str, Any], keys: set[str], where: str) -> None:
    """Refuse a mistyped key by name, and a missing one."""
    if not isinstance(config, Mapping):
        raise BenchmarkError(f"{where}: wanted is a mapping with the keys {', '.join(sorted(keys))}")
    if unknown := set(config) - keys:
        raise BenchmarkError(f"{where}: unknown key {', '.join(sorted(unknown))}; known are {', '.join(sorted(keys))}")
    if missing := keys - set(config):
        raise BenchmarkError(f"{where}: missing key {', '.join(sorted(missing))}")
