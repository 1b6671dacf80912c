"""Bootstrap intervals agree with scipy's, with enumeration on a handful of bases, and depend on nothing else."""

import os
import subprocess
import sys
from fractions import Fraction
from functools import cache

import polars as pl
import pytest
from hypothesis import given, settings

from exact import enumerated, resampled_by_scipy
from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import SettingsError, TableError
from samequantity.scoring.columns import INTERVALS as SCHEMA
from samequantity.scoring.statistics import wilson_interval
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.collect import collect
from samequantity.stages.score import score
from samequantity.store.digests import content_digest
from studies import OK, UNREAD, Answer, Orbits, Row, one_row, orbits, pairs, random_orbits, study

SEED = 20260725
HALF: Orbits = {
    "a-0001": {Family.CANONICAL: OK, Family.UNIT: UNREAD},
    "a-0002": {Family.CANONICAL: OK, Family.UNIT: OK},
    "b-0003": {Family.CANONICAL: UNREAD, Family.UNIT: OK},
    "b-0004": {Family.CANONICAL: OK},
    "b-0005": {Family.CANONICAL: OK},
}
BLANK: Row = dict.fromkeys(SCHEMA)


def sums(orbits: Orbits, row: Row) -> tuple[list[int], list[int]]:
    """What each base adds to numerator and denominator of the gap that a row is about, counted by hand."""
    audited = row["layer"] == "audited"
    tops, bottoms = [], []
    for base, orbit in orbits.items():
        solved = {family: (worth.audited if audited else worth.strict) == "correct" for family, worth in orbit.items()}
        shown = row["template"] in (None, base[:-5]) and row["orbit_size"] in (None, len(orbit))
        if row["family"] is None:
            transformed = all(solved.values())
        else:
            shown = shown and row["family"] in orbit
            transformed = shown and solved[row["family"]]
        tops.append((solved[Family.CANONICAL] - transformed) * shown)
        bottoms.append(int(shown))
    return tops, bottoms


@given(orbits())
@settings(max_examples=12, deadline=None)
def test_up_to_six_bases_have_the_interval_of_the_exact_distribution(bases: dict[str, dict[Family, Answer]]) -> None:
    """Each end lies between the exact quantiles six standard errors to either side of its point."""
    draws = 4000
    intervals = bootstrap(*study(bases).tables, seed=SEED, draws=draws)

    for row in intervals.filter(pl.col("method") == "bootstrap").rows(named=True):
        exact = enumerated(*sums(bases, row))
        fewest, most = exact.dropped(draws)
        assert fewest <= row["dropped_draws"] <= most
        for end, point in (("low", 0.025), ("high", 0.975)):
            below, above = exact.around(point, draws - row["dropped_draws"])
            assert below <= row[end] <= above


def test_the_interval_is_that_of_the_exact_distribution_of_five_bases() -> None:
    row = one_row(bootstrap(*study(HALF).tables, seed=SEED), "strict", "family_gap", family="unit")
    exact = enumerated(*sums(HALF, row))
    fewest, most = exact.dropped(10_000)

    assert exact.missed == Fraction(2, 5) ** 5
    assert row["low"] == exact.quantile(0.025) == -1.0
    assert row["high"] == exact.quantile(0.975) == 1.0
    assert 0 < fewest <= row["dropped_draws"] <= most


def test_inner_percentiles_follow_the_exact_distribution() -> None:
    """Four of five bases agree, so that the ends lie inside the range of possible gaps."""
    orbits: Orbits = {
        f"a-{number:04d}": {Family.CANONICAL: OK, Family.UNIT: UNREAD if number == 1 else OK} for number in range(1, 6)
    }
    row = one_row(bootstrap(*study(orbits).tables, seed=SEED), "strict", "family_gap", family="unit")
    exact = enumerated(*sums(orbits, row))

    assert exact.missed == row["dropped_draws"] == 0
    assert row["low"] == exact.quantile(0.025) == 0.0
    assert row["high"] == exact.quantile(0.975) == 0.6


SAMPLE = random_orbits(11, 400)


@cache
def sample() -> pl.DataFrame:
    """The intervals of a study with every kind of outcome, from the draws of the protocol."""
    return bootstrap(*study(SAMPLE).tables, seed=SEED)


@pytest.mark.parametrize(
    ("measure", "place"),
    [("family_gap", {"family": "fraction"}), ("orbit_gap", {}), ("orbit_gap", {"template": "t1", "orbit_size": 3})],
)
def test_the_interval_agrees_with_scipy(measure: str, place: dict[str, str | int | None]) -> None:
    """scipy resamples the bases one by one; both ends agree within Monte-Carlo error."""
    row = one_row(sample(), "strict", measure, **place)
    expected = resampled_by_scipy(*sums(SAMPLE, row))

    assert row["low"] == pytest.approx(expected.low, abs=expected.error)
    assert row["high"] == pytest.approx(expected.high, abs=expected.error)
    assert row["low"] < row["high"]


def test_every_rate_and_gap_of_the_scores_has_its_interval() -> None:
    whole = study(random_orbits(2, 60))
    intervals = bootstrap(*whole.tables, seed=SEED, draws=200)
    key = ["system", "layer", "measure", "family", "template", "orbit_size", "estimate"]
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


def test_rates_have_wilson_intervals_of_their_counts() -> None:
    whole = study(random_orbits(2, 60))
    wilson = bootstrap(*whole.tables, seed=SEED, draws=1).filter(pl.col("method") == "wilson")
    scores = score(*whole.tables).filter(pl.col("category").is_null())
    key = ["layer", "measure", "family", "template", "orbit_size"]
    counted = wilson.join(scores, on=key, nulls_equal=True, maintain_order="left", validate="1:1")
    found = [wilson_interval(*counts) for counts in counted.select("numerator", "denominator").iter_rows()]

    assert [(interval.low, interval.high) for interval in found] == wilson.select("low", "high").rows()
    assert wilson.select("draws", "dropped_draws").null_count().row(0) == (wilson.height, wilson.height)


def test_row_order_and_shards_do_not_change_the_digest() -> None:
    whole = study(random_orbits(5, 80))

    def drawn(*tables: pl.DataFrame) -> str:
        return content_digest(bootstrap(*tables, seed=SEED, draws=100))

    sharded = [
        pl.concat([table.gather_every(shards, offset) for offset in range(shards)], rechunk=False)
        for table, shards in zip(whole.tables, (1, 2, 3), strict=True)
    ]

    assert drawn(*whole.tables) == drawn(*whole.shuffled(7).tables) == drawn(*sharded)


def test_another_system_leaves_a_systems_rows_as_they_are() -> None:
    alone, *others = (
        bootstrap(*study(random_orbits(seed, 40), f"s{seed}").tables, seed=SEED, draws=200) for seed in (3, 1, 2)
    )
    together = collect([others[0], alone, others[1]])

    assert content_digest(together.filter(pl.col("system") == "s3")) == content_digest(collect([alone]))


DIGESTS = """
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.score import score
from samequantity.store.digests import content_digest
from studies import random_orbits, study, with_details

whole = study(with_details(random_orbits(5, 900), 5))
print(content_digest(score(*whole.all_tables)), content_digest(bootstrap(*whole.tables, seed=1, draws=500)))
"""


def test_the_number_of_threads_does_not_change_the_digests() -> None:
    """900 bases make some 500 patterns, enough for the matrix product to be shared among threads."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", DIGESTS],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            | dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads),
            stdout=subprocess.PIPE,
            text=True,
        )
        for threads in ("1", "2")
    ]
    one, two = (process.communicate()[0].split() for process in processes)

    assert [0, 0] == [process.returncode for process in processes]
    assert one == two
    assert 2 == len(one)


def test_draws_depend_on_the_seed_and_the_system_and_nothing_else() -> None:
    orbits = random_orbits(5, 40)
    ends = pl.col("low", "high")

    def drawn(system: str, seed: int) -> pl.DataFrame:
        intervals = bootstrap(*study(orbits, system).tables, seed=seed, draws=100)
        return intervals.filter(pl.col("method") == "bootstrap").select(ends)

    first = drawn("one", SEED)
    other = drawn("two", SEED)

    assert not other.equals(first)
    assert not drawn("one", SEED + 1).equals(first)
    assert drawn("one", SEED).equals(first)


def test_layers_are_paired_in_the_same_draws() -> None:
    """Where the audit changes nothing, both layers have the same intervals to the last bit."""
    whole = study(pairs(Family.WORDS, both=20, canonical_only=9, transformed_only=2, neither=3))
    gaps = bootstrap(*whole.tables, seed=SEED).filter(pl.col("method") == "bootstrap").drop("layer")

    assert gaps.head(gaps.height // 2).equals(gaps.tail(gaps.height // 2))
    # The family gap pooled and of the one template; the orbit gap so, of orbits of any size and of two views.
    assert gaps.height == 2 * (2 + 4)


def test_strata_are_paired_in_the_same_draws() -> None:
    """A stratum that holds all bases has the interval of all bases to the last bit."""
    whole = study(pairs(Family.WORDS, both=20, canonical_only=9, transformed_only=2, neither=3))
    intervals = bootstrap(*whole.tables, seed=SEED, draws=500)

    same = {(row["low"], row["high"]) for row in intervals.filter(pl.col("method") == "bootstrap").rows(named=True)}
    assert 2 == len(same)


@pytest.mark.parametrize(("both", "neither"), [(6, 0), (0, 6)], ids=["all correct", "all wrong"])
def test_a_gap_without_variation_has_an_interval_without_width(both: int, neither: int) -> None:
    whole = study(pairs(Family.WORDS, both=both, canonical_only=0, transformed_only=0, neither=neither))
    intervals = bootstrap(*whole.tables, seed=SEED)
    none: Row = BLANK | {"system": "toy", "layer": "strict", "estimate": "0", "low": 0.0, "high": 0.0}
    none |= {"draws": 10_000, "dropped_draws": 0, "method": "bootstrap"}
    wilson = wilson_interval(both, 6)

    assert one_row(intervals, "strict", "family_gap", family="words") == none | {
        "measure": "family_gap",
        "family": "words",
    }
    assert one_row(intervals, "strict", "orbit_gap", template="a", orbit_size=2) == none | {
        "measure": "orbit_gap",
        "template": "a",
        "orbit_size": 2,
    }
    assert one_row(intervals, "audited", "orbit_correctness") == BLANK | {
        "system": "toy",
        "layer": "audited",
        "measure": "orbit_correctness",
        "estimate": "1" if both else "0",
        "low": wilson.low,
        "high": wilson.high,
        "method": "wilson",
    }
    assert (wilson.high if both else wilson.low) == (1.0 if both else 0.0)


def test_one_base_is_drawn_every_time() -> None:
    whole = study({"a-0001": {Family.CANONICAL: OK, Family.WORDS: UNREAD}})
    intervals = bootstrap(*whole.tables, seed=SEED)
    whole_gap: Row = BLANK | {
        "system": "toy",
        "layer": "strict",
        "estimate": "1",
        "low": 1.0,
        "high": 1.0,
    }
    whole_gap |= {"draws": 10_000, "dropped_draws": 0, "method": "bootstrap"}

    assert one_row(intervals, "strict", "family_gap", family="words") == whole_gap | {
        "measure": "family_gap",
        "family": "words",
    }
    assert one_row(intervals, "strict", "orbit_gap") == whole_gap | {"measure": "orbit_gap"}


def test_a_family_without_a_view_has_no_interval() -> None:
    """It has a row with its reason in the scores."""
    intervals = bootstrap(*study(HALF).tables, seed=SEED, draws=20)

    assert {None, "canonical", "unit"} == set(intervals["family"])
    assert (False, False) == intervals.select(pl.col("low", "high").is_nan().fill_null(False).any()).row(0)


def test_a_gap_of_which_every_draw_is_dropped_has_no_interval() -> None:
    """One draw of 40 bases rarely holds the one unit pair; over eight systems some draw must miss it."""
    orbits: dict[str, dict[Family, Answer]] = {f"a-{number:04d}": {Family.CANONICAL: OK} for number in range(1, 41)}
    orbits["a-0001"][Family.UNIT] = OK
    rows = [
        one_row(
            bootstrap(*study(orbits, f"s{number}").tables, seed=SEED, draws=1), "strict", "family_gap", family="unit"
        )
        for number in range(8)
    ]
    missed = [row for row in rows if row["dropped_draws"] == 1]

    assert 0 < len(missed) < len(rows)
    assert {(row["estimate"], row["low"], row["high"]) for row in missed} == {("0", None, None)}
    assert {(row["low"], row["high"]) for row in rows if row not in missed} == {(0.0, 0.0)}


def test_no_draw_is_refused() -> None:
    with pytest.raises(SettingsError, match="draws: 0 is not a number of bootstrap draws"):
        bootstrap(*study(HALF).tables, seed=SEED, draws=0)


def test_a_missing_view_is_refused_and_its_base_left_out_when_asked() -> None:
    whole = study(HALF)
    cut = whole.answers.filter(pl.col("view_id") != "b-0005/canonical")

    with pytest.raises(TableError, match=r"^answers of toy: 1 views are missing: b-0005/canonical\. "):
        bootstrap(whole.views, cut, whole.audits, seed=SEED)
    intervals = bootstrap(whole.views, cut, whole.audits, seed=SEED, complete_orbits_only=True)
    assert one_row(intervals, "strict", "orbit_gap")["estimate"] == "1/4"


def test_the_two_layers_stand_in_order() -> None:
    intervals = bootstrap(*study(HALF).tables, seed=SEED, draws=50)

    assert intervals["layer"].unique(maintain_order=True).to_list() == list(Layer)
