"""Base problems: drawn from their template's private stream, each with its exact answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from samequantity.domain.benchmark import Benchmark, BenchmarkError, Range, TemplatePlan
from samequantity.domain.programs import DimensionError, Expression, Parameters, Quantity
from samequantity.domain.rationals import decimal_places
from samequantity.domain.streams import Stream
from samequantity.domain.templates import TEMPLATES, TemplateName
from samequantity.domain.units import Unit
from samequantity.domain.views import BaseId, Family

# A template whose ranges hold 20 times as many tuples as bases is redrawn a few times at most.
_PATIENCE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """One numeric question, free of wording, with its exact answer in the canonical unit.

    `families` lists the ways in which it is written, the canonical one first.
    """

    id: BaseId
    template: TemplateName
    program: Expression
    parameters: Parameters
    canonical_unit: Unit
    answer: Fraction
    families: tuple[Family, ...]

    def __post_init__(self) -> None:
        computed = self.program.evaluate(self.parameters)
        if computed.unit.dimension is not self.canonical_unit.dimension:
            raise DimensionError(f"{self.id}: {computed.unit} cannot be given in {self.canonical_unit}")
        if computed.to(self.canonical_unit).value != self.answer:
            raise ValueError(f"{self.id}: the answer {self.answer} is not what {self.program} gives")


def draw_bases(benchmark: Benchmark, name: TemplateName) -> Iterator[Base]:
    """The bases of one template, by identifier; no other template has any influence on them."""
    template, plan = TEMPLATES[name], benchmark.templates[name]
    stream = Stream(f"samequantity/{benchmark.generator}/{benchmark.seed}/{name}")
    seen: set[tuple[Fraction, ...]] = set()
    for number in range(1, plan.bases + 1):
        for _ in range(_PATIENCE):
            values = {key: _draw(stream, plan.ranges[key]) for key in template.units}
            drawn = tuple(values.values())
            if drawn in seen or not template.admits(values):
                continue
            parameters = {key: Quantity(value=values[key], unit=unit) for key, unit in template.units.items()}
            answer = template.program.evaluate(parameters).to(template.answer_unit).value
            places = decimal_places(answer)
            if places is not None and places <= benchmark.answer_places:
                break
        else:
            raise BenchmarkError(f"templates.{name}: the ranges hold too few tuples for {plan.bases} bases")
        seen.add(drawn)
        yield Base(
            id=BaseId(f"{name}-{number:04}"),
            template=name,
            program=template.program,
            parameters=parameters,
            canonical_unit=template.answer_unit,
            answer=answer,
            families=_families(plan, number),
        )


def _draw(stream: Stream, values: Range) -> Fraction:
    """One value of a range; positions that the range leaves out are drawn again."""
    while (value := values.at(stream.below(values.positions))) is None:
        pass
    return value


def _families(plan: TemplatePlan, number: int) -> tuple[Family, ...]:
    """The canonical view, and each family whose quota reaches base `number`, counted from 1."""
    return (
        Family.CANONICAL,
        *(family for family in Family if family in plan.families and number <= plan.families[family].quota),
    )
