"""Bootstrap intervals agree with scipy's, with enumeration on a handful of bases, and depend on nothing else."""

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import SettingsError, TableError
from samequantity.scoring.columns import INTERVALS as SCHEMA
from samequantity.stages.bootstrap import bootstrap, generator_for
from samequantity.stages.score import score
from studies import OK, UNREAD, Answer, Orbits, pairs, random_orbits, study

pytestmark = pytest.mark.usefixtures("quick_holm")

SEED = 20260725
HALF: Orbits = {
    "a-0001": {Family.CANONICAL: OK, Family.UNIT: UNREAD},
    "a-0002": {Family.CANONICAL: OK, Family.UNIT: OK},
    "b-0003": {Family.CANONICAL: UNREAD, Family.UNIT: OK},
    "b-0004": {Family.CANONICAL: OK},
    "b-0005": {Family.CANONICAL: OK},
}


def gap_row(intervals: pl.DataFrame, measure: str, family: str | None, template: str | None = None) -> dict[str, Any]:
    return intervals.row(
        by_predicate=(pl.col("layer") == "strict")
        & (pl.col("measure") == measure)
        & pl.col("family").eq_missing(pl.lit(family))
        & pl.col("template").eq_missing(pl.lit(template)),
        named=True,
    )


def enumerated(orbits: Orbits, family: Family) -> dict[float, float]:
    """The exact distribution of the resampled gap over all n^n draws that hold a pair; sums to less than 1."""
    bases = list(orbits.values())
    found: Counter[float] = Counter()
    for drawn in product(bases, repeat=len(bases)):
        gaps = [(orbit[Family.CANONICAL] is OK) - (orbit[family] is OK) for orbit in drawn if family in orbit]
        if gaps:
            found[sum(gaps) / len(gaps)] += 1
    return {gap: count / len(bases) ** len(bases) for gap, count in sorted(found.items())}


def test_the_interval_is_that_of_the_exact_distribution_of_five_bases() -> None:
    exact = enumerated(HALF, Family.UNIT)
    kept = sum(exact.values())
    cumulative = np.cumsum(list(exact.values())) / kept
    values = list(exact)
    row = gap_row(bootstrap(*study(HALF).tables, seed=SEED), "family_gap", "unit")

    assert row["low"] == values[int(np.searchsorted(cumulative, 0.025))] == -1.0
    assert row["high"] == values[int(np.searchsorted(cumulative, 0.975))] == 1.0
    # Draws without a unit view: (2/5)^5 of them.
    assert row["dropped_draws"] == pytest.approx(10_000 * (1 - kept), abs=4 * np.sqrt(10_000 * kept * (1 - kept)))
    assert row["dropped_draws"] > 0


def test_inner_percentiles_follow_the_exact_distribution() -> None:
    """Four of five bases agree, so that the ends lie inside the range of possible gaps."""
    orbits: Orbits = {
        f"a-{number:04d}": {Family.CANONICAL: OK, Family.UNIT: UNREAD if number == 1 else OK} for number in range(1, 6)
    }
    exact = enumerated(orbits, Family.UNIT)
    cumulative = np.cumsum(list(exact.values()))
    row = gap_row(bootstrap(*study(orbits).tables, seed=SEED), "family_gap", "unit")

    assert row["low"] == list(exact)[int(np.searchsorted(cumulative, 0.025))] == 0.0
    assert row["high"] == list(exact)[int(np.searchsorted(cumulative, 0.975))] == 0.6


@pytest.mark.parametrize("family", ["fraction", None])
def test_the_interval_agrees_with_scipy(family: str | None) -> None:
    """scipy resamples the bases one by one; both ends agree within Monte-Carlo error."""
    orbits = random_orbits(11, 400)
    numerators, denominators = [], []
    for orbit in orbits.values():
        canonical = orbit[Family.CANONICAL].strict == "correct"
        if family is None:
            numerators.append(canonical - all(given.strict == "correct" for given in orbit.values()))
            denominators.append(1)
        else:
            shown = Family(family) in orbit
            numerators.append(canonical - (orbit[Family(family)].strict == "correct") if shown else 0)
            denominators.append(int(shown))

    def ratio(top: Any, bottom: Any, axis: int) -> Any:
        return top.sum(axis=axis) / bottom.sum(axis=axis)

    expected = stats.bootstrap(
        (np.array(numerators), np.array(denominators)),
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    row = gap_row(bootstrap(*study(orbits).tables, seed=SEED), "orbit_gap" if family is None else "family_gap", family)
    error = 4 * expected.standard_error / np.sqrt(10_000 * 0.025)

    assert row["low"] == pytest.approx(expected.confidence_interval.low, abs=error)
    assert row["high"] == pytest.approx(expected.confidence_interval.high, abs=error)
    assert row["low"] < row["high"]


def test_every_rate_and_gap_of_the_scores_has_its_interval() -> None:
    whole = study(random_orbits(2, 60))
    intervals = bootstrap(*whole.tables, seed=SEED, draws=200)
    key = ["system", "layer", "measure", "family", "template", "estimate"]
    measures = intervals["measure"].unique().to_list()
    scored = score(*whole.tables).filter(pl.col("measure").is_in(measures) & pl.col("estimate").is_not_null())

    assert intervals.schema == SCHEMA
    assert sorted(measures) == [
        "consistent_wrong",
        "family_gap",
        "orbit_correctness",
        "orbit_gap",
        "orbit_invariance",
        "view_correctness",
    ]
    assert intervals.select(key).equals(scored.select(key))
    assert set(intervals.filter(pl.col("method") == "bootstrap")["measure"]) == {"family_gap", "orbit_gap"}


def test_shuffled_rows_give_the_same_frame() -> None:
    whole = study(random_orbits(5, 80))

    expected = bootstrap(*whole.tables, seed=SEED, draws=300)

    assert bootstrap(*whole.shuffled(7).tables, seed=SEED, draws=300).equals(expected)


def test_draws_depend_on_the_seed_and_the_system_and_nothing_else() -> None:
    orbits = random_orbits(5, 80)
    ends = pl.col("low", "high")

    def drawn(system: str, seed: int) -> pl.DataFrame:
        intervals = bootstrap(*study(orbits, system).tables, seed=seed, draws=300)
        return intervals.filter(pl.col("method") == "bootstrap").select(ends)

    first = drawn("one", SEED)
    other = drawn("two", SEED)

    assert not other.equals(first)
    assert not drawn("one", SEED + 1).equals(first)
    assert drawn("one", SEED).equals(first)


def test_the_stream_of_a_system_is_pinned() -> None:
    """A change here changes every published interval."""
    assert generator_for(SEED, "toy").integers(0, 10**9, size=3).tolist() == [817587976, 138851145, 510479155]


def test_layers_are_paired_in_the_same_draws() -> None:
    """Where the audit changes nothing, both layers have the same intervals to the last bit."""
    whole = study(pairs(Family.WORDS, both=20, canonical_only=9, transformed_only=2, neither=3))
    gaps = bootstrap(*whole.tables, seed=SEED).filter(pl.col("method") == "bootstrap").drop("layer")

    assert gaps.head(gaps.height // 2).equals(gaps.tail(gaps.height // 2))
    assert gaps.height == 2 * 2 * 2


@pytest.mark.parametrize(("both", "neither"), [(6, 0), (0, 6)], ids=["all correct", "all wrong"])
def test_a_gap_without_variation_has_an_interval_without_width(both: int, neither: int) -> None:
    whole = study(pairs(Family.WORDS, both=both, canonical_only=0, transformed_only=0, neither=neither))
    row = gap_row(bootstrap(*whole.tables, seed=SEED), "family_gap", "words")

    assert (row["low"], row["high"], row["dropped_draws"]) == (0.0, 0.0, 0)


def test_one_base_is_drawn_every_time() -> None:
    whole = study({"a-0001": {Family.CANONICAL: OK, Family.WORDS: UNREAD}})
    intervals = bootstrap(*whole.tables, seed=SEED)

    assert gap_row(intervals, "family_gap", "words")["low"] == 1.0
    assert gap_row(intervals, "orbit_gap", None)["high"] == 1.0
    assert intervals.filter(pl.col("family") == "unit").is_empty()


def test_a_gap_of_which_every_draw_is_dropped_has_no_interval() -> None:
    """One draw of 40 bases rarely holds the one unit pair; over twenty systems some draw must miss it."""
    orbits: dict[str, dict[Family, Answer]] = {f"a-{number:04d}": {Family.CANONICAL: OK} for number in range(1, 41)}
    orbits["a-0001"][Family.UNIT] = OK
    rows = [
        gap_row(bootstrap(*study(orbits, f"s{number}").tables, seed=SEED, draws=1), "family_gap", "unit")
        for number in range(20)
    ]
    missed = [row for row in rows if row["dropped_draws"] == 1]

    assert 0 < len(missed) < len(rows)
    assert {(row["low"], row["high"]) for row in missed} == {(None, None)}
    assert {(row["low"], row["high"]) for row in rows if row not in missed} == {(0.0, 0.0)}


def test_no_draw_is_refused() -> None:
    with pytest.raises(SettingsError, match="draws: 0 is not a number of bootstrap draws"):
        bootstrap(*study(HALF).tables, seed=SEED, draws=0)


def test_a_missing_view_is_refused_and_its_base_left_out_when_asked() -> None:
    whole = study(HALF)
    cut = whole.answers.filter(pl.col("view_id") != "b-0005/canonical")

    with pytest.raises(TableError, match="1 views are missing: b-0005/canonical"):
        bootstrap(whole.views, cut, whole.audits, seed=SEED)
    intervals = bootstrap(whole.views, cut, whole.audits, seed=SEED, complete_orbits_only=True)
    assert gap_row(intervals, "orbit_gap", None)["estimate"] == "1/4"


def test_the_two_layers_stand_in_order() -> None:
    intervals = bootstrap(*study(HALF).tables, seed=SEED, draws=50)

    assert intervals["layer"].unique(maintain_order=True).to_list() == list(Layer)
