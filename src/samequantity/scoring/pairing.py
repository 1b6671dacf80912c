"""Two systems on the same bases: their ratios, and how these differ in the resampled studies (PROTOCOL, section 6).

A pair of systems has patterns of its own: bases that add the same to the difference of every ratio are one *pattern*.
One matrix of draws serves every ratio of the pair, and a draw takes both systems' answers to a base along, so that the
two stay paired in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.scoring.measures import Ratio, profiles, ratios
from samequantity.scoring.outcomes import Outcomes
from samequantity.scoring.resampling import Resampled, draw_weights, generator_for, resampled_ratios
from samequantity.scoring.tallies import Tally, added, tallies


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A ratio of two systems, counted over the same bases.

    `system_only` and `reference_only` say how many bases add more to the numerator of the one than to the other's: the
    discordant pairs of a rate. `resampled` is about the difference, None over an empty denominator.
    """

    system: Tally
    reference: Tally
    system_only: int
    reference_only: int
    resampled: Resampled | None

    @property
    def difference(self) -> Fraction | None:
        """The exact difference, system − reference; None over an empty denominator."""
        bases = self.system.denominator
        return Fraction(self.system.numerator - self.reference.numerator, bases) if bases else None


def pairs(system: Outcomes, reference: Outcomes, *, seed: int, draws: int) -> list[Pair]:
    """Each ratio in both systems, in the order of the scores: pooled and, for rates and gaps, by template.

    The outcomes must be of the same views. Correctness among the responses that ended before the cap is left out: it
    has another denominator in each system. The seed and the two names decide the draws, the same ones in both
    directions, so that the interval of reference − system is the mirror of that of system − reference.
    """
    mine, other = profiles(system.frame), profiles(reference.frame)
    measured = [ratio for layer in Layer for ratio in ratios(layer)]
    counted = _counted(mine, measured)
    towards = 1 if system.system < reference.system else -1
    patterns = _patterns(mine, other, measured, towards)
    bases = patterns["bases"].cast(pl.Int64).to_numpy()
    differences = towards * added(patterns, counted, [_column("difference", tally.ratio) for tally in counted])
    denominators = added(patterns, counted, [_column("denominator", tally.ratio) for tally in counted])
    generator = generator_for("compare", seed, *sorted([system.system, reference.system]))
    weights = draw_weights(bases, draws=draws, generator=generator)
    resampled = resampled_ratios(weights, differences, denominators)
    system_only, reference_only = bases @ (differences > 0), bases @ (differences < 0)
    return [
        Pair(
            system=first,
            reference=second,
            system_only=int(system_only[index]),
            reference_only=int(reference_only[index]),
            resampled=resampled[index] if first.denominator else None,
        )
        for index, (first, second) in enumerate(zip(counted, _counted(other, measured), strict=True))
    ]


def _counted(bases: pl.DataFrame, measured: Sequence[Ratio]) -> list[Tally]:
    """The tallies that are compared: none by orbit size, and by template those of rates and gaps alone."""
    return [
        tally
        for tally in tallies(bases, measured)
        if tally.is_pooled or (tally.orbit_size is None and tally.ratio.measure.has_interval)
    ]


def _patterns(mine: pl.DataFrame, other: pl.DataFrame, measured: Sequence[Ratio], towards: int) -> pl.DataFrame:
    """The distinct rows of what a base adds, sorted, with the number of `bases` of each, from two systems' profiles.

    Columns: template, and for each ratio its difference and denominator (`_name`). Differences are multiplied by
    `towards`, 1 in one direction and −1 in the other, so that both directions have the same rows in the same order.
    """
    numerators = [ratio.numerator.alias(_name("difference", ratio)) for ratio in measured]
    denominators = [ratio.denominator.alias(_name("denominator", ratio)) for ratio in measured]
    differences = (mine.select(numerators) - other.select(numerators)) * towards
    bases = mine.select("template", *denominators).hstack(differences)
    return bases.group_by(bases.columns).len("bases").sort(bases.columns)


def _column(what: str, ratio: Ratio) -> pl.Expr:
    return pl.col(_name(what, ratio))


def _name(what: str, ratio: Ratio) -> str:
    return f"{what} of {ratio.layer} {ratio.measure} {ratio.family}"
