"""Stage render: bases become prompts, one a view."""

import polars as pl

from samequantity.domain.benchmark import Benchmark
from samequantity.domain.wording import Wording
from samequantity.stages.writing import written_views

SCHEMA = pl.Schema(
    dict.fromkeys(
        ("view_id", "base_id", "template", "family", "prompt", "dimension", "canonical_unit", "expected"), pl.String()
    )
)


def render(bases: pl.DataFrame, benchmark: Benchmark, wording: Wording) -> pl.DataFrame:
    """One row a view: bases in their order, families in the order of `Family`, the canonical view first.

    `bases` has the columns of `generate.SCHEMA`. TableError for a base that is none of the benchmark's.
    """
    rows = [
        (view.id, view.base.id, view.base.template, view.family, view.prompt,
         view.base.canonical_unit.dimension, view.base.canonical_unit.name, str(view.base.answer))
        for view in written_views(bases, benchmark, wording)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
