"""Counts of views by a category: magnitude drops by k, FINAL lines, rewrites, responses at the cap, tokens.

Unlike the ratios of `samequantity.scoring.measures` they have neither interval nor test; they say what happened.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl

from samequantity.domain.exchange import FinishReason
from samequantity.domain.verdicts import Layer
from samequantity.scoring.measures import Measure
from samequantity.scoring.statistics import quartiles

_MARKED_BY = ("strict_final_lines", "audited_final_lines", "recovered", "rewrites", "magnitude_k", "finish_reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something that a view counts for; without a category it is the measure as a whole."""

    measure: Measure
    layer: Layer | None
    category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """The views of a family: of one template, or (None) of any."""

    family: str
    template: str | None


WHOLES = (
    *(Mark(measure=Measure.FINAL_LINES, layer=layer) for layer in Layer),
    *(
        Mark(measure=measure, layer=Layer.AUDITED)
        for measure in (Measure.MAGNITUDE_DROP, Measure.REWRITE, Measure.REWRITE_RECOVERED)
    ),
)
AT_CAP = Mark(measure=Measure.LENGTH_FINISHED, layer=None)


def counts(outcomes: pl.DataFrame) -> list[dict[str, object]]:
    """Rows of the scores (see `SCORES`) in no order, without the system's name, from the outcomes of one system.

    A stratum has a row for each measure as a whole, which may count nothing, and one for each category that occurs.
    Responses at the cap and completion tokens are counted where they are known.
    """
    views, marked = Counter[Stratum](), Counter[tuple[Stratum, Mark]]()
    for kind in _kinds(outcomes):
        marks = list(_marks(kind))
        for stratum in _strata(kind):
            views[stratum] += kind["views"]
            for mark in marks:
                marked[stratum, mark] += kind["views"]
    wholes = (*WHOLES, AT_CAP) if outcomes["finish_reason"].count() else WHOLES
    for stratum in views:
        for whole in wholes:
            marked[stratum, whole] += 0
    counted = [_row(stratum, mark, views[stratum], number) for (stratum, mark), number in marked.items()]
    return [*counted, *_tokens(outcomes)]


def _kinds(outcomes: pl.DataFrame) -> Iterator[Mapping[str, Any]]:
    """The distinct rows of what marks a view, each with the number of views that it stands for."""
    kinds = outcomes.group_by("family", "template", *_MARKED_BY).len("views")
    return kinds.iter_rows(named=True)


def _strata(kind: Mapping[str, Any]) -> tuple[Stratum, Stratum]:
    return (
        Stratum(family=kind["family"], template=None),
        Stratum(family=kind["family"], template=kind["template"]),
    )


def _marks(kind: Mapping[str, Any]) -> Iterator[Mark]:
    """All that a view counts for. The FINAL lines as a whole are the responses with more than one."""
    for layer in Layer:
        lines = kind[f"{layer}_final_lines"]
        yield Mark(measure=Measure.FINAL_LINES, layer=layer, category=str(lines))
        if lines > 1:
            yield Mark(measure=Measure.FINAL_LINES, layer=layer)
    if kind["magnitude_k"] is not None:
        yield Mark(measure=Measure.MAGNITUDE_DROP, layer=Layer.AUDITED)
        yield Mark(measure=Measure.MAGNITUDE_DROP, layer=Layer.AUDITED, category=str(kind["magnitude_k"]))
    rewrites = kind["rewrites"]
    for measure in (Measure.REWRITE, Measure.REWRITE_RECOVERED) if kind["recovered"] else (Measure.REWRITE,):
        for category in (None, *rewrites) if rewrites else ():
            yield Mark(measure=measure, layer=Layer.AUDITED, category=category)
    if kind["finish_reason"] == FinishReason.LENGTH:
        yield AT_CAP


def _tokens(outcomes: pl.DataFrame) -> Iterator[dict[str, object]]:
    """Inclusive quartiles of the completion tokens of each stratum, over the responses that say how many."""
    known = outcomes.filter(pl.col("completion_tokens").is_not_null())
    for strata in (["family"], ["family", "template"]):
        for row in known.group_by(strata).agg("completion_tokens").iter_rows(named=True):
            stratum = Stratum(family=row["family"], template=row.get("template"))
            found = quartiles(row["completion_tokens"])
            for category, value in (("q1", found.q1), ("median", found.median), ("q3", found.q3)):
                mark = Mark(measure=Measure.COMPLETION_TOKENS, layer=None, category=category)
                yield _row(stratum, mark, len(row["completion_tokens"]), None) | {"estimate": str(value)}


def _row(stratum: Stratum, mark: Mark, views: int, number: int | None) -> dict[str, object]:
    return {
        "layer": mark.layer and mark.layer.value,
        "measure": mark.measure.value,
        "family": stratum.family,
        "template": stratum.template,
        "category": mark.category,
        "numerator": number,
        "denominator": views,
        "estimate": None if number is None else str(Fraction(number, views)),
    }
