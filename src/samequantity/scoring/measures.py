"""What is counted about a system, each formula once: PROTOCOL, sections 1 and 6.

A *profile* is one base with its outcomes in both layers, by family. Every measure is a ratio of two sums over bases
of small integers that a profile decides. A score takes every base once, a bootstrap draw as often as it was drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import polars as pl

from samequantity.domain.verdicts import Layer, Status
from samequantity.domain.views import TRANSFORMATIONS, Family


class Measure(StrEnum):
    """The name of what a row of the scores or intervals gives, in the order in which they stand there."""

    VIEW_CORRECTNESS = "view_correctness"
    FAMILY_GAP = "family_gap"
    ORBIT_CORRECTNESS = "orbit_correctness"
    ORBIT_INVARIANCE = "orbit_invariance"
    CONSISTENT_WRONG = "consistent_wrong"
    ORBIT_GAP = "orbit_gap"
    RECOVERED = "recovered"
    TRUNCATION_ERROR = "truncation_error"
    FORMAT_ERROR = "format_error"
    PARSE_ERROR = "parse_error"
    UNIT_ERROR = "unit_error"
    VALUE_ERROR = "value_error"
    H1 = "h1"
    H2 = "h2"

    @property
    def is_gap(self) -> bool:
        """Whether this is a difference of two rates on the same bases, not a rate."""
        return self in (Measure.FAMILY_GAP, Measure.ORBIT_GAP)


RATES = (Measure.VIEW_CORRECTNESS, Measure.ORBIT_CORRECTNESS, Measure.ORBIT_INVARIANCE, Measure.CONSISTENT_WRONG)
"""The rates that get a Wilson interval; it covers items, not templates or checkpoints."""


FAILURES = tuple(status for status in Status if status is not Status.CORRECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two outcomes of the same bases: the canonical view's, and that of a transformed view.

    Each is a boolean expression over profiles, false for bases that are not paired.
    """

    canonical: pl.Expr
    transformed: pl.Expr

    @property
    def difference(self) -> pl.Expr:
        """+1 for a base that only the canonical view solves, −1 for one that only the other does, else 0."""
        return self.canonical.cast(pl.Int64) - self.transformed.cast(pl.Int64)

    @property
    def counts(self) -> dict[str, pl.Expr]:
        """C, T and the directional discordance c, t of PROTOCOL as expressions to be summed, by column name."""
        return {
            "canonical_correct": self.canonical,
            "transformed_correct": self.transformed,
            "canonical_only": self.canonical & ~self.transformed,
            "transformed_only": self.transformed & ~self.canonical,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One measure of one layer: numerator and denominator are expressions over profiles, summed over bases.

    `family` is None for a measure of whole orbits; `pairing` is given for a family gap only.
    """

    measure: Measure
    layer: Layer
    family: Family | None
    numerator: pl.Expr
    denominator: pl.Expr
    pairing: Pairing | None = None


def status_column(layer: Layer, family: Family) -> str:
    """The profile's column with the outcome of a family's view in a layer; null where the base has no such view."""
    return f"{layer}_{family}"


STATUS_COLUMNS = tuple(status_column(layer, family) for layer in Layer for family in Family)

PATTERN_COLUMNS = ("template", *STATUS_COLUMNS)
"""Bases that agree in these are the same to every gap: the patterns that the bootstrap draws from."""


def profiles(outcomes: pl.DataFrame) -> pl.DataFrame:
    """One row a base, sorted by base_id, from the outcomes of one system (`samequantity.scoring.outcomes`).

    Columns: base_id, `PATTERN_COLUMNS`, and for each layer `<layer>_invariant`: every value defined, all equal.
    """
    views = outcomes.group_by("base_id").agg(
        pl.col("template").first(),
        *(
            pl.col(f"{layer}_status").filter(pl.col("family") == family).first().alias(status_column(layer, family))
            for layer in Layer
            for family in Family
        ),
        *(_invariant(layer).alias(f"{layer}_invariant") for layer in Layer),
    )
    return views.sort("base_id")


def ratios(layer: Layer) -> tuple[Ratio, ...]:
    """Every measure of a layer, ordered by measure, then family; recovery belongs to the audited layer alone."""
    solved = _is_correct(layer, Family.CANONICAL)
    orbit = pl.all_horizontal(_is_correct(layer, family) | ~_is_shown(family) for family in Family)
    invariant = pl.col(f"{layer}_invariant")
    orbits = {
        Measure.ORBIT_CORRECTNESS: _count(orbit),
        Measure.ORBIT_INVARIANCE: _count(invariant),
        Measure.CONSISTENT_WRONG: _count(invariant & ~orbit),
        Measure.ORBIT_GAP: Pairing(canonical=solved, transformed=orbit).difference,
    }
    every_base = _count(pl.col("template").is_not_null())
    return (
        *(_of_views(Measure.VIEW_CORRECTNESS, layer, family, _is_correct(layer, family)) for family in Family),
        *(_family_gap(layer, family) for family in TRANSFORMATIONS),
        *(
            Ratio(measure=measure, layer=layer, family=None, numerator=counted, denominator=every_base)
            for measure, counted in orbits.items()
        ),
        *(
            _of_views(Measure.RECOVERED, layer, family, _is_correct(layer, family) & ~_is_correct(Layer.STRICT, family))
            for family in Family
            if layer is Layer.AUDITED
        ),
        *(
            _of_views(Measure(failure.value), layer, family, _has_status(layer, family, failure))
            for failure in FAILURES
            for family in Family
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A ratio counted over the bases of one template, or over all (template None).

    `pairs` holds C, T, c and t under the names of `Pairing.counts`; empty for what is no family gap.
    """

    ratio: Ratio
    template: str | None
    numerator: int
    denominator: int
    pairs: Mapping[str, int]

    @property
    def estimate(self) -> Fraction | None:
        """The exact ratio, None over an empty denominator."""
        return Fraction(self.numerator, self.denominator) if self.denominator else None

    def columns(self) -> dict[str, object]:
        """What scores and intervals have in common: layer, measure, family, template, and the estimate as text."""
        return {
            "layer": self.ratio.layer.value,
            "measure": self.ratio.measure.value,
            "family": None if self.ratio.family is None else self.ratio.family.value,
            "template": self.template,
            "estimate": None if self.estimate is None else str(self.estimate),
        }


def tallies(bases: pl.DataFrame, measured: Sequence[Ratio]) -> list[Tally]:
    """Count each ratio over the profiles, in the order given: pooled, then by template, sorted by name.

    A template without a view of the ratio's family has no tally; a pooled one has, with denominator 0.
    """
    columns = [_columns(ratio) for ratio in measured]
    sums = [
        expression.sum().cast(pl.Int64).alias(f"{index}.{name}")
        for index, named in enumerate(columns)
        for name, expression in named.items()
    ]
    pooled = bases.select(pl.lit(None, dtype=pl.String).alias("template"), *sums).row(0, named=True)
    strata = bases.group_by("template").agg(sums).sort("template").rows(named=True)
    return [
        Tally(
            ratio=ratio,
            template=group["template"],
            numerator=group[f"{index}.numerator"],
            denominator=group[f"{index}.denominator"],
            pairs={name: group[f"{index}.{name}"] for name in (ratio.pairing.counts if ratio.pairing else ())},
        )
        for index, ratio in enumerate(measured)
        for group in (pooled, *strata)
        if group["template"] is None or group[f"{index}.denominator"]
    ]


def _columns(ratio: Ratio) -> dict[str, pl.Expr]:
    counts = ratio.pairing.counts if ratio.pairing is not None else {}
    return {"numerator": ratio.numerator, "denominator": ratio.denominator, **counts}


def _of_views(measure: Measure, layer: Layer, family: Family, counted: pl.Expr) -> Ratio:
    """A share of a family's views."""
    return Ratio(
        measure=measure, layer=layer, family=family, numerator=_count(counted), denominator=_count(_is_shown(family))
    )


def _family_gap(layer: Layer, family: Family) -> Ratio:
    """Canonical − transformed correctness on the bases that have the transformed view."""
    pairing = Pairing(
        canonical=_is_correct(layer, Family.CANONICAL) & _is_shown(family), transformed=_is_correct(layer, family)
    )
    return Ratio(
        measure=Measure.FAMILY_GAP,
        layer=layer,
        family=family,
        numerator=pairing.difference,
        denominator=_count(_is_shown(family)),
        pairing=pairing,
    )


def _invariant(layer: Layer) -> pl.Expr:
    """Over the views of one base: every value defined and all equal (equal values are equal text)."""
    defined = pl.col(f"{layer}_status").is_in([status for status in Status if status.has_value]).all()
    return defined & (pl.col(f"{layer}_value").n_unique() == 1)


def _has_status(layer: Layer, family: Family, status: Status) -> pl.Expr:
    return (pl.col(status_column(layer, family)) == status.value).fill_null(False)


def _is_correct(layer: Layer, family: Family) -> pl.Expr:
    return _has_status(layer, family, Status.CORRECT)


def _is_shown(family: Family) -> pl.Expr:
    """Whether the base has a view of this family; both layers agree."""
    return pl.col(status_column(Layer.STRICT, family)).is_not_null()


def _count(condition: pl.Expr) -> pl.Expr:
    return condition.cast(pl.Int64)
