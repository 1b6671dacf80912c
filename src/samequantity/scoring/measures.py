"""What is counted about a system, each formula once: PROTOCOL, sections 1 and 6.

A *profile* is one base with its outcomes in both layers, by family. Every measure is a ratio of two sums over bases
of small integers that a profile decides. A score takes every base once, a bootstrap draw as often as it was drawn.
"""

from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from samequantity.domain.exchange import FinishReason
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
    FINISHED_CORRECTNESS = "finished_correctness"
    MAGNITUDE_DROP = "magnitude_drop"
    FINAL_LINES = "final_lines"
    REWRITE = "rewrite"
    REWRITE_RECOVERED = "rewrite_recovered"
    LENGTH_FINISHED = "length_finished"
    COMPLETION_TOKENS = "completion_tokens"
    H1 = "h1"
    H2 = "h2"

    @property
    def is_of_orbits(self) -> bool:
        """Whether this is counted over whole orbits, and so also by their size."""
        return self in (
            Measure.ORBIT_CORRECTNESS,
            Measure.ORBIT_INVARIANCE,
            Measure.CONSISTENT_WRONG,
            Measure.ORBIT_GAP,
        )

    @property
    def has_interval(self) -> bool:
        """Whether this gets an interval: Wilson for a rate of `RATES`, bootstrap for a gap."""
        return self.is_gap or self in RATES

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

    `family` is None for a measure of whole orbits; `pairing` is given for the gaps only, where the orbit as a whole
    stands for the transformed view of an orbit gap.
    """

    measure: Measure
    layer: Layer
    family: Family | None
    numerator: pl.Expr
    denominator: pl.Expr
    pairing: Pairing | None = None


def _status_column(layer: Layer, family: Family) -> str:
    """The profile's column with the outcome of a family's view in a layer; null where the base has no such view."""
    return f"{layer}_{family}"


_STATUS_COLUMNS = tuple(_status_column(layer, family) for layer in Layer for family in Family)

PATTERN_COLUMNS = ("template", *_STATUS_COLUMNS)
"""Bases that agree in these are the same to every gap: the patterns that the bootstrap draws from."""

ORBIT_SIZE = pl.sum_horizontal(
    pl.col(_status_column(Layer.STRICT, family)).is_not_null().cast(pl.Int64) for family in Family
)
"""How many views a profile's base has, the canonical one included."""


def profiles(outcomes: pl.DataFrame) -> pl.DataFrame:
    """One row a base, sorted by base_id, from the outcomes of one system (`samequantity.scoring.outcomes`).

    Columns: base_id, `PATTERN_COLUMNS`, for each layer `<layer>_invariant` (every value defined, all equal), and for
    each family `finished_<family>`: whether the response ended before the cap, null where that is not known.
    """
    views = outcomes.group_by("base_id").agg(
        pl.col("template").first(),
        *(
            pl.col(f"{layer}_status").filter(pl.col("family") == family).first().alias(_status_column(layer, family))
            for layer in Layer
            for family in Family
        ),
        *(_invariant(layer).alias(f"{layer}_invariant") for layer in Layer),
        *(
            (pl.col("finish_reason") != FinishReason.LENGTH)
            .filter(pl.col("family") == family)
            .first()
            .alias(f"finished_{family}")
            for family in Family
        ),
    )
    return views.sort("base_id")


def ratios(layer: Layer) -> tuple[Ratio, ...]:
    """Every measure of a layer, ordered by measure, then family; recovery belongs to the audited layer alone."""
    return (
        *(_of_views(Measure.VIEW_CORRECTNESS, layer, family, _is_correct(layer, family)) for family in Family),
        *(_family_gap(layer, family) for family in TRANSFORMATIONS),
        *_of_orbits(layer),
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


def finished_ratios(layer: Layer) -> tuple[Ratio, ...]:
    """Correctness over the views whose responses ended before the cap, by family; known with the responses alone."""
    return tuple(
        Ratio(
            measure=Measure.FINISHED_CORRECTNESS,
            layer=layer,
            family=family,
            numerator=_count(_is_correct(layer, family) & _is_finished(family)),
            denominator=_count(_is_finished(family)),
        )
        for family in Family
    )


def _of_orbits(layer: Layer) -> tuple[Ratio, ...]:
    """The measures of whole orbits, over all bases."""
    orbit = pl.all_horizontal(_is_correct(layer, family) | ~_is_shown(family) for family in Family)
    invariant = pl.col(f"{layer}_invariant")
    pairing = Pairing(canonical=_is_correct(layer, Family.CANONICAL), transformed=orbit)
    counted = {
        Measure.ORBIT_CORRECTNESS: _count(orbit),
        Measure.ORBIT_INVARIANCE: _count(invariant),
        Measure.CONSISTENT_WRONG: _count(invariant & ~orbit),
        Measure.ORBIT_GAP: pairing.difference,
    }
    return tuple(
        Ratio(
            measure=measure,
            layer=layer,
            family=None,
            numerator=numerator,
            denominator=_count(pl.col("template").is_not_null()),
            pairing=pairing if measure.is_gap else None,
        )
        for measure, numerator in counted.items()
    )


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
    return (pl.col(_status_column(layer, family)) == status.value).fill_null(False)


def _is_correct(layer: Layer, family: Family) -> pl.Expr:
    return _has_status(layer, family, Status.CORRECT)


def _is_shown(family: Family) -> pl.Expr:
    """Whether the base has a view of this family; both layers agree."""
    return pl.col(_status_column(Layer.STRICT, family)).is_not_null()


def _is_finished(family: Family) -> pl.Expr:
    return pl.col(f"finished_{family}").fill_null(False)


def _count(condition: pl.Expr) -> pl.Expr:
    return condition.cast(pl.Int64)
