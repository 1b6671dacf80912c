"""Scores agree with a count by hand of the same answers, and degenerate input has a defined answer."""

from collections.abc import Callable
from fractions import Fraction
from math import comb

import polars as pl
import pytest
from hypothesis import given, settings

from samequantity.domain.verdicts import Layer, Status
from samequantity.domain.views import TRANSFORMATIONS, Family
from samequantity.errors import TableError
from samequantity.scoring.columns import SCORES as SCHEMA
from samequantity.stages.score import NO_TEST, NO_VIEW, score
from studies import OK, RECOVERED, UNREAD, Answer, Orbits, answer, orbits, pairs, random_orbits, study

pytestmark = pytest.mark.usefixtures("quick_holm")

Row = dict[str, object]


def find(scores: pl.DataFrame, layer: str, measure: str, family: str | None = None, template: str | None = None) -> Row:
    """The one row of a measure."""
    return scores.row(
        by_predicate=(pl.col("layer") == layer)
        & (pl.col("measure") == measure)
        & pl.col("family").eq_missing(pl.lit(family))
        & pl.col("template").eq_missing(pl.lit(template)),
        named=True,
    )


def value(given: Answer, layer: Layer) -> str | None:
    return given.strict_value if layer is Layer.STRICT else given.audited_value


def status(given: Answer, layer: Layer) -> Status:
    return given.strict if layer is Layer.STRICT else given.audited


def is_orbit_correct(orbit: dict[Family, Answer], layer: Layer) -> bool:
    return all(value(given, layer) == "7/2" for given in orbit.values())


def is_invariant(orbit: dict[Family, Answer], layer: Layer) -> bool:
    values = [value(given, layer) for given in orbit.values()]
    return None not in values and len(set(values)) == 1


BY_HAND: dict[str, Callable[[dict[Family, Answer], Layer], bool]] = {
    "orbit_correctness": is_orbit_correct,
    "orbit_invariance": is_invariant,
    "consistent_wrong": lambda orbit, layer: is_invariant(orbit, layer) and not is_orbit_correct(orbit, layer),
}


@given(orbits())
@settings(max_examples=20, deadline=None)
def test_scores_are_those_counted_by_hand(given_orbits: dict[str, dict[Family, Answer]]) -> None:
    scores = score(*study(given_orbits).tables)
    bases = list(given_orbits.values())

    for layer in Layer:
        for measure, holds in BY_HAND.items():
            row = find(scores, layer, measure)
            assert (row["numerator"], row["denominator"]) == (sum(holds(orbit, layer) for orbit in bases), len(bases))
        solved = sum(status(orbit[Family.CANONICAL], layer) == "correct" for orbit in bases)
        assert find(scores, layer, "orbit_gap")["numerator"] == solved - sum(
            is_orbit_correct(orbit, layer) for orbit in bases
        )
        for family in TRANSFORMATIONS:
            assert paired(find(scores, layer, "family_gap", family)) == paired_by_hand(bases, family, layer)


def paired(row: Row) -> Row:
    columns = ("numerator", "denominator", "canonical_correct", "transformed_correct", "canonical_only")
    return {column: row[column] for column in (*columns, "transformed_only")}


def paired_by_hand(bases: list[dict[Family, Answer]], family: Family, layer: Layer) -> Row:
    found = [
        (status(orbit[Family.CANONICAL], layer) == "correct", status(orbit[family], layer) == "correct")
        for orbit in bases
        if family in orbit
    ]
    return {
        "numerator": found.count((True, False)) - found.count((False, True)),
        "denominator": len(found),
        "canonical_correct": sum(first for first, _ in found),
        "transformed_correct": sum(second for _, second in found),
        "canonical_only": found.count((True, False)),
        "transformed_only": found.count((False, True)),
    }


@given(orbits())
@settings(max_examples=8, deadline=None)
def test_strata_add_up_and_outcomes_exhaust_the_views(given_orbits: dict[str, dict[Family, Answer]]) -> None:
    scores = score(*study(given_orbits).tables)
    key = ["layer", "measure", "family"]
    counts = ["numerator", "denominator"]
    pooled = scores.filter(pl.col("template").is_null() & ~pl.col("measure").is_in(["h1", "h2"]))
    strata = scores.filter(pl.col("template").is_not_null()).group_by(key).agg(pl.col(counts).sum())
    joined = pooled.filter(pl.col("denominator") > 0).join(strata, on=key, nulls_equal=True, validate="1:1")

    assert joined.height == pooled.filter(pl.col("denominator") > 0).height
    assert joined.filter(
        (pl.col("numerator") != pl.col("numerator_right")) | (pl.col("denominator") != pl.col("denominator_right"))
    ).is_empty()

    exhaustive = ["view_correctness", *(code for code in Status if code is not Status.CORRECT)]
    sums = (
        pooled.filter(pl.col("measure").is_in(exhaustive))
        .group_by("layer", "family")
        .agg(pl.col("numerator").sum(), pl.col("denominator").first())
    )
    assert sums["numerator"].to_list() == sums["denominator"].to_list()


def test_the_frame_has_its_schema_and_exact_estimates() -> None:
    scores = score(*study(random_orbits(1, 60)).tables)

    assert scores.schema == SCHEMA
    for row in scores.rows(named=True):
        if row["denominator"]:
            assert row["estimate"] == str(Fraction(row["numerator"], row["denominator"]))


def test_rows_are_unique_and_stand_in_the_order_that_the_schema_states() -> None:
    scores = score(*study(random_orbits(1, 60)).tables)
    keys = scores.select("layer", "measure", "family", "template")

    assert not keys.is_duplicated().any()
    assert keys["layer"].unique(maintain_order=True).to_list() == ["strict", "audited"]
    assert find(scores, "strict", "view_correctness", "canonical") == scores.row(0, named=True)
    assert keys["template"].to_list()[:4] == [None, "t0", "t1", "t2"]


def test_recovered_counts_what_the_audit_alone_reads() -> None:
    bases: Orbits = {
        "a-0001": {Family.CANONICAL: OK, Family.WORDS: RECOVERED},
        "a-0002": {Family.CANONICAL: RECOVERED, Family.WORDS: RECOVERED},
        "a-0003": {Family.CANONICAL: UNREAD, Family.WORDS: answer("parse_error", "value_error")},
    }
    scores = score(*study(bases).tables)

    assert find(scores, "audited", "recovered", "canonical")["estimate"] == "1/3"
    assert find(scores, "audited", "recovered", "words")["estimate"] == "2/3"
    assert scores.filter((pl.col("measure") == "recovered") & (pl.col("layer") == "strict")).is_empty()


def test_equal_wrong_values_are_consistent_wrong_and_different_ones_are_not() -> None:
    bases: Orbits = {
        "a-0001": {Family.CANONICAL: answer("value_error"), Family.UNIT: answer("value_error")},
        "a-0002": {Family.CANONICAL: answer("value_error"), Family.UNIT: answer("value_error", wrong="1")},
        "a-0003": {Family.CANONICAL: answer("value_error"), Family.UNIT: UNREAD},
    }
    scores = score(*study(bases).tables)

    assert find(scores, "strict", "orbit_invariance")["numerator"] == 1
    assert find(scores, "strict", "consistent_wrong")["numerator"] == 1
    assert find(scores, "strict", "orbit_correctness")["numerator"] == 0


@pytest.mark.parametrize(("lost", "marked", "supported"), [(29, False, False), (30, False, True), (31, True, True)])
def test_three_points_are_compared_exactly(lost: int, marked: bool, supported: bool) -> None:
    """30 per 1,000 reaches the threshold, as H1 and H2 ask, and does not exceed it, as the mark asks."""
    bases = pairs(Family.FRACTION, both=1000 - lost, canonical_only=lost, transformed_only=0, neither=0)
    scores = score(*study(bases).tables)

    assert find(scores, "audited", "family_gap", "fraction")["marked"] is marked
    assert find(scores, "audited", "family_gap", "fraction")["supported"] is None
    assert find(scores, "strict", "family_gap", "fraction")["supported"] is supported
    assert find(scores, "strict", "family_gap", "fraction")["marked"] is None
    assert find(scores, "strict", "h1")["supported"] is supported
    assert find(scores, "strict", "h2")["supported"] is supported


def test_a_large_gap_without_significance_supports_h2_alone() -> None:
    bases = pairs(Family.FRACTION, both=5, canonical_only=5, transformed_only=0, neither=0)
    scores = score(*study(bases).tables)

    assert find(scores, "strict", "family_gap", "fraction")["p_holm"] == pytest.approx(2 / 2**5)
    assert find(scores, "strict", "h1")["supported"] is False
    assert find(scores, "strict", "h2")["supported"] is True
    assert find(scores, "audited", "family_gap", "fraction")["marked"] is False


def test_holm_covers_the_families_of_one_layer_that_were_sampled() -> None:
    """The audited layer recovers every unit view, so that its p differ from the strict ones."""
    bases: dict[str, dict[Family, Answer]] = {
        f"a-{number:04d}": {
            Family.CANONICAL: OK,
            Family.WORDS: UNREAD if number <= 6 else OK,
            Family.UNIT: RECOVERED if number <= 9 else OK,
        }
        for number in range(1, 21)
    }
    scores = score(*study(bases).tables)
    words, unit = (find(scores, "strict", "family_gap", family) for family in ("words", "unit"))

    assert (words["holm_tests"], unit["holm_tests"]) == (2, 2)
    assert unit["p_holm"] == pytest.approx(2 * (2 / 2**9))
    assert words["p_holm"] == pytest.approx(2 / 2**6)
    assert find(scores, "audited", "family_gap", "unit")["p_value"] == 1.0
    assert find(scores, "audited", "family_gap", "words")["p_holm"] == pytest.approx(2 * (2 / 2**6))


def test_an_absent_family_has_its_reason_and_no_number() -> None:
    bases = pairs(Family.WORDS, both=3, canonical_only=1, transformed_only=0, neither=0)
    scores = score(*study(bases).tables)
    row = find(scores, "strict", "family_gap", "unit")

    assert (row["denominator"], row["absent"]) == (0, NO_VIEW)
    assert [row[column] for column in ("estimate", "p_value", "p_holm", "holm_tests", "supported")] == [None] * 5
    assert find(scores, "strict", "family_gap", "words")["holm_tests"] == 1
    assert scores.select(pl.col("p_value", "p_holm").is_nan().fill_null(False).any()).row(0) == (False, False)


def test_one_base_with_its_canonical_view_alone_has_no_family_test() -> None:
    scores = score(*study({"a-0001": {Family.CANONICAL: OK}}).tables)
    h1 = find(scores, "strict", "h1")

    assert (h1["supported"], h1["absent"], h1["denominator"]) == (None, NO_TEST, 0)
    assert find(scores, "strict", "orbit_correctness")["estimate"] == "1"
    assert find(scores, "strict", "h2")["supported"] is False
    assert scores["p_holm"].null_count() == scores.height


@pytest.mark.parametrize(("both", "neither", "rate"), [(4, 0, "1"), (0, 4, "0")], ids=["all correct", "all wrong"])
def test_no_discordant_pair_means_p_is_one(both: int, neither: int, rate: str) -> None:
    bases = pairs(Family.UNIT, both=both, canonical_only=0, transformed_only=0, neither=neither)
    scores = score(*study(bases).tables)
    gap = find(scores, "strict", "family_gap", "unit")

    assert (gap["p_value"], gap["p_holm"], gap["estimate"], gap["supported"]) == (1.0, 1.0, "0", False)
    assert find(scores, "strict", "orbit_correctness")["estimate"] == rate


def test_shuffled_rows_give_the_same_frame() -> None:
    whole = study(random_orbits(5, 80))

    assert score(*whole.shuffled(7).tables).equals(score(*whole.tables))


def test_dropped_bases_stand_in_every_row() -> None:
    whole = study(random_orbits(5, 20))
    cut = whole.answers.filter(~pl.col("view_id").is_in(["t1-0001/canonical", "t2-0002/canonical"]))

    with pytest.raises(TableError, match="2 views are missing"):
        score(whole.views, cut, whole.audits)
    scores = score(whole.views, cut, whole.audits, complete_orbits_only=True)

    assert scores["dropped_bases"].unique().to_list() == [2]
    assert find(scores, "strict", "orbit_gap")["denominator"] == 18


def test_the_papers_unit_view_is_tested_as_published() -> None:
    """A gap of 28.1 points on 1,000 pairs; the p-value is the binomial tail."""
    bases = pairs(Family.UNIT, both=690, canonical_only=290, transformed_only=9, neither=11)
    gap = find(score(*study(bases).tables), "audited", "family_gap", "unit")
    tail = Fraction(2 * sum(comb(299, k) for k in range(10)), 2**299)

    assert gap["estimate"] == "281/1000"
    assert gap["p_value"] == pytest.approx(float(tail), rel=1e-10)
    assert gap["marked"] is True
