"""What every view of the bases says: for render, which puts it into prompts, and for tokens, which finds it there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl

from samequantity.domain.bases import Base
from samequantity.domain.benchmark import Benchmark, FamilyPlan
from samequantity.domain.programs import Quantity
from samequantity.domain.templates import TEMPLATES, TemplateName
from samequantity.domain.units import unit_named
from samequantity.domain.views import BaseId, Family, ViewId, view_id
from samequantity.domain.wording import Skeleton, Wording, tokens
from samequantity.errors import TableError

BASE_COLUMNS = ("base_id", "template", "parameters", "canonical_unit", "answer", "families")
"""What is read of the bases, in the types of `generate.SCHEMA`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenView:
    """One view: the words of its template, the quantity tokens by parameter, and the prompt that both make.

    `rewritten` names the parameters that the family writes otherwise than the canonical view does.
    """

    base: Base
    family: Family
    skeleton: Skeleton
    tokens: Mapping[str, str]
    rewritten: tuple[str, ...]
    prompt: str

    @property
    def id(self) -> ViewId:
        """The view's name."""
        return view_id(self.base.id, self.family)


def written_views(bases: pl.DataFrame, benchmark: Benchmark, wording: Wording) -> Iterator[WrittenView]:
    """Every view: bases in their order, families in the order of `Family`, the canonical view first.

    TableError for a table without the columns of `BASE_COLUMNS` and for a base that is none of the benchmark's.
    """
    if missing := [name for name in BASE_COLUMNS if name not in bases.columns]:
        raise TableError(f"bases: missing column {', '.join(missing)}")
    for base in map(_base, bases.iter_rows(named=True)):
        for family in base.families:
            yield _written(base, family, benchmark, wording)


def _base(row: Mapping[str, Any]) -> Base:
    try:
        template = TEMPLATES[TemplateName(row["template"])]
        return Base(
            id=BaseId(row["base_id"]),
            template=template.name,
            program=template.program,
            parameters={
                entry["name"]: Quantity(value=Fraction(entry["value"]), unit=unit_named(entry["unit"]))
                for entry in row["parameters"]
            },
            canonical_unit=unit_named(row["canonical_unit"]),
            answer=Fraction(row["answer"]),
            families=tuple(Family(name) for name in row["families"]),
        )
    except (ValueError, KeyError, ZeroDivisionError) as error:
        raise TableError(f"bases: {row['base_id']}: {error}; samequantity generate makes the table anew") from error


def _written(base: Base, family: Family, benchmark: Benchmark, wording: Wording) -> WrittenView:
    plan: FamilyPlan | None
    try:
        plan = benchmark.templates[base.template].families[family] if family.is_transformation else None
        skeleton = wording.skeletons[base.template]
    except KeyError as error:
        raise TableError(f"bases: {base.id}/{family}: the benchmark or its wording holds no {error}") from error
    words = tokens(base, family, plan)
    return WrittenView(
        base=base,
        family=family,
        skeleton=skeleton,
        tokens=words,
        rewritten=plan.rewrites if plan else (),
        prompt=wording.prompt(skeleton, words, base.canonical_unit),
    )
