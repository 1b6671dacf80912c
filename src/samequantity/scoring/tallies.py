"""Ratios counted over the bases of a system, and over each of their strata."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl

from samequantity.scoring.measures import ORBIT_SIZE, Ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ALL = pl.lit(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A ratio counted over a stratum: the bases of one template, of one orbit size, of both, or (None) of any.

    `pairs` holds C, T, c and t under the names of `Pairing.counts`; empty for what is no gap.
    """

    ratio: Ratio
    template: str | None
    orbit_size: int | None
    numerator: int
    denominator: int
    pairs: Mapping[str, int]

    @property
    def estimate(self) -> Fraction | None:
        """The exact ratio, None over an empty denominator."""
        return Fraction(self.numerator, self.denominator) if self.denominator else None

    @property
    def is_pooled(self) -> bool:
        """Whether all bases were counted."""
        return self.template is None and self.orbit_size is None

    @property
    def stratum(self) -> pl.Expr:
        """Whether a row belongs here; it needs the column template and, for an orbit size, the profiles' outcomes."""
        belongs = pl.lit(True)
        if self.template is not None:
            belongs = belongs & (pl.col("template") == self.template)
        if self.orbit_size is not None:
            belongs = belongs & ORBIT_SIZE.eq(self.orbit_size)
        return belongs

    def columns(self) -> dict[str, object]:
        """What scores and intervals have in common: what is measured, where, and the estimate as text."""
        return {
            "layer": self.ratio.layer.value,
            "measure": self.ratio.measure.value,
            "family": None if self.ratio.family is None else self.ratio.family.value,
            "template": self.template,
            "orbit_size": self.orbit_size,
            "estimate": None if self.estimate is None else str(self.estimate),
        }


def tallies(bases: pl.DataFrame, measured: Sequence[Ratio]) -> list[Tally]:
    """Count each ratio over the profiles, in the order given, in each stratum: by template, then orbit size, all first.

    Orbit sizes are told apart for measures of whole orbits alone. A stratum without a view of the ratio's family has no
    tally; the pooled one has, with denominator 0.
    """
    columns = [_columns(ratio) for ratio in measured]
    sums = [
        expression.sum().cast(pl.Int64).alias(f"{index}.{name}")
        for index, named in enumerate(columns)
        for name, expression in named.items()
    ]
    groups = sorted(_groups(bases, sums), key=lambda group: (group["template"] or "", group["orbit_size"] or 0))
    return [
        Tally(
            ratio=ratio,
            template=group["template"],
            orbit_size=group["orbit_size"],
            numerator=group[f"{index}.numerator"],
            denominator=group[f"{index}.denominator"],
            pairs={name: group[f"{index}.{name}"] for name in (ratio.pairing.counts if ratio.pairing else ())},
        )
        for index, ratio in enumerate(measured)
        for group in groups
        if _is_told_apart(ratio, group) and (group[f"{index}.denominator"] or _is_whole(group))
    ]


def added(rows: pl.DataFrame, counted: Sequence[Tally], values: Sequence[pl.Expr]) -> "NDArray[np.int64]":
    """What each row (a profile, or a pattern of them) adds to each tally: its value, but 0 outside of the stratum.

    Shape (rows, tallies); `values` has one expression over the rows for each tally.
    """
    columns = [
        pl.when(tally.stratum).then(value).otherwise(0).cast(pl.Int64).alias(str(index))
        for index, (tally, value) in enumerate(zip(counted, values, strict=True))
    ]
    return rows.select(columns).to_numpy()


def _groups(bases: pl.DataFrame, sums: Sequence[pl.Expr]) -> Iterator[Mapping[str, Any]]:
    """The sums over all bases and over each stratum."""
    sized = bases.with_columns(ORBIT_SIZE.alias("orbit_size"))
    yield sized.select(_ALL.alias("template"), _ALL.alias("orbit_size"), *sums).row(0, named=True)
    for strata in (["template"], ["orbit_size"], ["template", "orbit_size"]):
        unsplit = [_ALL.alias(name) for name in ("template", "orbit_size") if name not in strata]
        yield from sized.group_by(strata).agg(sums).with_columns(unsplit).iter_rows(named=True)


def _is_told_apart(ratio: Ratio, group: Mapping[str, Any]) -> bool:
    return group["orbit_size"] is None or ratio.measure.is_of_orbits


def _is_whole(group: Mapping[str, Any]) -> bool:
    return group["template"] is None and group["orbit_size"] is None


def _columns(ratio: Ratio) -> dict[str, pl.Expr]:
    counts = ratio.pairing.counts if ratio.pairing is not None else {}
    return {"numerator": ratio.numerator, "denominator": ratio.denominator, **counts}
