"""Stage generate: the benchmark's configuration becomes the table of bases."""

from collections.abc import Mapping
from itertools import chain, islice

import polars as pl

from samequantity.domain.bases import Base, draw_bases
from samequantity.domain.benchmark import Benchmark
from samequantity.errors import SettingsError

SCHEMA = pl.Schema(
    {
        "base_id": pl.String(),
        "template": pl.String(),
        "program": pl.String(),
        "parameters": pl.List(pl.Struct({"name": pl.String(), "value": pl.String(), "unit": pl.String()})),
        "dimension": pl.String(),
        "canonical_unit": pl.String(),
        "answer": pl.String(),
        "families": pl.List(pl.String()),
    }
)


def generate(benchmark: Benchmark, sample: Mapping[str, int] | None = None) -> pl.DataFrame:
    """One row a base, templates in the order of the configuration, bases by identifier.

    `sample` keeps the first so many bases of each template that it names, and none of a template that it does not
    name; None keeps all. Whatever is kept is the same as in the full benchmark. SettingsError for a number of bases
    that is none.
    """
    for name, count in (sample or {}).items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise SettingsError(f"sample: {name}: wanted is a number of bases, not {count!r}")
    bases = chain.from_iterable(
        islice(draw_bases(benchmark, name), None if sample is None else sample.get(name, 0))
        for name in benchmark.templates
    )
    return pl.DataFrame([_row(base) for base in bases], schema=SCHEMA, orient="row")


def _row(base: Base) -> tuple[object, ...]:
    return (
        base.id,
        base.template,
        str(base.program),
        [
            {"name": name, "value": str(quantity.value), "unit": quantity.unit.name}
            for name, quantity in base.parameters.items()
        ],
        base.canonical_unit.dimension,
        base.canonical_unit.name,
        str(base.answer),
        list(base.families),
    )
