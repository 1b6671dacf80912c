"""Stage render: bases become prompts, one a view."""

from fractions import Fraction
from typing import Any

import polars as pl

from samequantity.domain.bases import Base
from samequantity.domain.benchmark import Benchmark
from samequantity.domain.programs import Quantity
from samequantity.domain.templates import TEMPLATES, TemplateName
from samequantity.domain.units import unit_named
from samequantity.domain.views import BaseId, Family, view_id
from samequantity.domain.wording import Wording, tokens
from samequantity.errors import TableError

SCHEMA = pl.Schema(
    dict.fromkeys(
        ("view_id", "base_id", "template", "family", "prompt", "dimension", "canonical_unit", "expected"), pl.String()
    )
)

_COLUMNS = ("base_id", "template", "parameters", "canonical_unit", "answer", "families")


def render(bases: pl.DataFrame, benchmark: Benchmark, wording: Wording) -> pl.DataFrame:
    """One row a view: bases in their order, families in the order of `Family`, the canonical view first.

    `bases` has the columns of `generate.SCHEMA`. TableError for a base that is none of the benchmark's.
    """
    if missing := [name for name in _COLUMNS if name not in bases.columns]:
        raise TableError(f"bases: missing column {', '.join(missing)}")
    rows = [
        (view_id(base.id, family), base.id, base.template, family, _prompt(base, family, benchmark, wording),
         base.canonical_unit.dimension, base.canonical_unit.name, str(base.answer))
        for base in map(_base, bases.iter_rows(named=True))
        for family in base.families
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _base(row: dict[str, Any]) -> Base:
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


def _prompt(base: Base, family: Family, benchmark: Benchmark, wording: Wording) -> str:
    try:
        plan = benchmark.templates[base.template].families[family] if family.is_transformation else None
        skeleton = wording.skeletons[base.template]
    except KeyError as error:
        raise TableError(f"bases: {base.id}/{family}: the benchmark or its wording holds no {error}") from error
    return wording.prompt(skeleton, tokens(base, family, plan), base.canonical_unit)
