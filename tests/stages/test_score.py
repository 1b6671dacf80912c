"""Scores agree with a count by hand of the same answers, and degenerate input has a defined answer."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import comb

import polars as pl
import pytest
from hypothesis import given, settings

from samequantity.domain.verdicts import Layer, Status
from samequantity.domain.views import TRANSFORMATIONS, Family
from samequantity.errors import TableError
from samequantity.scoring.columns import NO_VIEW
from samequantity.scoring.columns import SCORES as SCHEMA
from samequantity.scoring.measures import Measure
from samequantity.stages.collect import collect
from samequantity.stages.score import NO_TEST, NONE_FINISHED, score
from samequantity.store.digests import content_digest
from studies import (
    OK,
    RECOVERED,
    UNREAD,
    Answer,
    Orbits,
    Study,
    answer,
    detailed_answers,
    orbits,
    pairs,
    random_orbits,
    study,
    with_details,
)

Row = dict[str, object]
Orbit = Mapping[Family, Answer]
BLANK: Row = dict.fromkeys(SCHEMA)


def find(scores: pl.DataFrame, layer: str, measure: str, family: str | None = None, template: str | None = None) -> Row:
    """The one row of a measure, orbits of every size together."""
    return scores.row(
        by_predicate=(pl.col("layer") == layer)
        & (pl.col("measure") == measure)
        & pl.col("family").eq_missing(pl.lit(family))
        & pl.col("template").eq_missing(pl.lit(template))
        & pl.col("orbit_size").is_null()
        & pl.col("category").is_null(),
        named=True,
    )


def value(given: Answer, layer: Layer) -> str | None:
    return given.strict_value if layer is Layer.STRICT else given.audited_value


def status(given: Answer, layer: Layer) -> Status:
    return given.strict if layer is Layer.STRICT else given.audited


def is_solved(given: Answer, layer: Layer) -> bool:
    return status(given, layer) is Status.CORRECT


def is_orbit_correct(orbit: Orbit, layer: Layer) -> bool:
    return all(value(given, layer) == "7/2" for given in orbit.values())


def is_invariant(orbit: Orbit, layer: Layer) -> bool:
    values = [value(given, layer) for given in orbit.values()]
    return None not in values and len(set(values)) == 1


OF_ORBITS: dict[str, Callable[[Orbit, Layer], bool]] = {
    "orbit_correctness": is_orbit_correct,
    "orbit_invariance": is_invariant,
    "consistent_wrong": lambda orbit, layer: is_invariant(orbit, layer) and not is_orbit_correct(orbit, layer),
}

Key = tuple[str, Family | None, str | None, int | None]
"""Measure, family, template, orbit size."""
Numbers = tuple[int | None, ...]
"""Numerator, denominator, and for gaps C, T, c, t."""
NO_PAIRS: Numbers = (None,) * 4


def paired(solved: list[tuple[bool, bool]]) -> Numbers:
    """The numbers of a gap, from whether the canonical view was solved and the other, base by base."""
    canonical_only, transformed_only = solved.count((True, False)), solved.count((False, True))
    totals = (sum(first for first, _ in solved), sum(second for _, second in solved))
    return (canonical_only - transformed_only, len(solved), *totals, canonical_only, transformed_only)


def orbits_by_hand(chosen: list[Orbit], layer: Layer) -> Iterator[tuple[str, Numbers]]:
    for measure, holds in OF_ORBITS.items():
        yield measure, (sum(holds(orbit, layer) for orbit in chosen), len(chosen), *NO_PAIRS)
    yield (
        "orbit_gap",
        paired([(is_solved(orbit[Family.CANONICAL], layer), is_orbit_correct(orbit, layer)) for orbit in chosen]),
    )


def views_by_hand(chosen: list[Orbit], family: Family, layer: Layer) -> Iterator[tuple[str, Numbers]]:
    shown = [orbit[family] for orbit in chosen if family in orbit]
    finished = [given for given in shown if given.finish_reason != "length"]
    yield "view_correctness", (sum(is_solved(given, layer) for given in shown), len(shown), *NO_PAIRS)
    yield "finished_correctness", (sum(is_solved(given, layer) for given in finished), len(finished), *NO_PAIRS)
    for failure in set(Status) - {Status.CORRECT}:
        yield failure.value, (sum(status(given, layer) is failure for given in shown), len(shown), *NO_PAIRS)
    if layer is Layer.AUDITED:
        yield "recovered", (sum(given.recovered for given in shown), len(shown), *NO_PAIRS)
    if family is not Family.CANONICAL:
        both = [(orbit[Family.CANONICAL], orbit[family]) for orbit in chosen if family in orbit]
        yield "family_gap", paired([(is_solved(first, layer), is_solved(second, layer)) for first, second in both])


def counted_by_hand(bases: Mapping[str, Orbit], layer: Layer) -> dict[Key, Numbers]:
    """Every rate and gap of a layer in every stratum that occurs, one base after the other."""
    found: dict[Key, Numbers] = {}
    strata: set[tuple[str | None, int | None]] = {(None, None)}
    for base, orbit in bases.items():
        strata |= {(template, size) for template in (None, base[:-5]) for size in (None, len(orbit))}
    for template, size in strata:
        chosen = [
            orbit for base, orbit in bases.items() if template in (None, base[:-5]) and size in (None, len(orbit))
        ]
        for measure, numbers in orbits_by_hand(chosen, layer):
            found[measure, None, template, size] = numbers
        for family in Family if size is None else ():
            for measure, numbers in views_by_hand(chosen, family, layer):
                if numbers[1] or template is None:
                    found[measure, family, template, size] = numbers
    return found


def as_counted(scores: pl.DataFrame, layer: Layer, measures: set[str]) -> dict[Key, Numbers]:
    rows = scores.filter((pl.col("layer") == layer) & pl.col("measure").is_in(measures))
    keys = rows.select("measure", "family", "template", "orbit_size").rows()
    columns = ("numerator", "denominator", "canonical_correct", "transformed_correct", "canonical_only")
    return dict(zip(keys, rows.select(*columns, "transformed_only").rows(), strict=True))


@given(orbits(answers=detailed_answers()))
@settings(max_examples=20, deadline=None)
def test_every_rate_and_gap_of_every_stratum_is_that_counted_by_hand(bases: dict[str, dict[Family, Answer]]) -> None:
    scores = score(*study(bases).all_tables)

    for layer in Layer:
        expected = counted_by_hand(bases, layer)
        assert expected == as_counted(scores, layer, {measure for measure, *_ in expected})


@given(orbits())
@settings(max_examples=8, deadline=None)
def test_strata_add_up_and_outcomes_exhaust_the_views(given_orbits: dict[str, dict[Family, Answer]]) -> None:
    whole = score(*study(given_orbits).tables)
    scores = whole.filter(pl.col("category").is_null() & ~pl.col("measure").is_in(["h1", "h2"]))
    key = ["layer", "measure", "family"]
    counts = ["numerator", "denominator", "canonical_correct", "transformed_correct", "canonical_only"]
    by_template, by_size = pl.col("template").is_not_null(), pl.col("orbit_size").is_not_null()
    pooled = scores.filter(~by_template & ~by_size & (pl.col("denominator") > 0)).select(*key, *counts)
    of_orbits = pooled.filter(pl.col("measure").is_in([measure for measure in Measure if measure.is_of_orbits]))

    for expected, stratum in (
        (pooled, by_template & ~by_size),
        (of_orbits, by_size & ~by_template),
        (of_orbits, by_size & by_template),
    ):
        # Sums of nothing but nulls are null, as in the rows of what is no gap.
        sums = [pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name) for name in counts]
        added = scores.filter(stratum).group_by(key, maintain_order=True).agg(sums)
        assert expected.equals(added)

    exhaustive = ["view_correctness", *(code for code in Status if code is not Status.CORRECT)]
    outcomes = (
        pooled.filter(pl.col("measure").is_in(exhaustive))
        .group_by("layer", "family")
        .agg(pl.col("numerator").sum(), pl.col("denominator").first())
    )
    assert outcomes["numerator"].to_list() == outcomes["denominator"].to_list()


@pytest.mark.parametrize("detailed", [False, True])
def test_the_frame_has_its_schema_and_exact_estimates(detailed: bool) -> None:
    whole = study(with_details(random_orbits(1, 60), 1))
    scores = score(*(whole.all_tables if detailed else whole.tables))

    assert scores.schema == SCHEMA
    for row in scores.filter(pl.col("numerator").is_not_null()).rows(named=True):
        ratio = Fraction(row["numerator"], row["denominator"]) if row["denominator"] else None
        assert row["estimate"] == (None if ratio is None else str(ratio))
        assert (row["absent"] is None) == (ratio is not None)
    assert set(scores.filter(pl.col("numerator").is_null())["measure"]) == (
        {"completion_tokens"} if detailed else set()
    )


def test_rows_are_unique_and_stand_in_the_order_that_the_schema_states() -> None:
    scores = score(*study(with_details(random_orbits(1, 60), 1)).all_tables)
    keys = scores.select("layer", "measure", "family", "template", "orbit_size", "category").rows()

    def place(key: tuple[str | None, str, str | None, str | None, int | None, str | None]) -> tuple[object, ...]:
        layer, measure, family, template, size, category = key
        return (
            ["strict", "audited", None].index(layer),
            list(Measure).index(Measure(measure)),
            -1 if family is None else list(Family).index(Family(family)),
            template or "",
            size or 0,
            category is not None,
            int(category) if category and category.lstrip("-").isdigit() else 0,
            category or "",
        )

    assert len(set(keys)) == len(keys)
    assert sorted(keys, key=place) == keys
    assert find(scores, "strict", "view_correctness", "canonical") == scores.row(0, named=True)
    assert {"-1", "1", "2", "scientific", "q1"} <= set(scores["category"])
    assert {None, 1, 2, 3, 4} == set(scores["orbit_size"])


def mcnemar(canonical_only: int, transformed_only: int) -> Fraction:
    pairs = canonical_only + transformed_only
    tail = sum(comb(pairs, k) for k in range(min(canonical_only, transformed_only) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**pairs))


@pytest.mark.parametrize("seed", range(3))
def test_the_tests_of_a_layer_follow_from_its_pairs_in_rationals(seed: int) -> None:
    scores = score(*study(random_orbits(seed, 300)).tables)

    for layer in Layer:
        gaps = [find(scores, layer, "family_gap", family) for family in TRANSFORMATIONS]
        exact = [mcnemar(int(str(gap["canonical_only"])), int(str(gap["transformed_only"]))) for gap in gaps]
        holm = [max((5 - rank) * p for rank, p in enumerate(sorted(exact)) if p <= own) for own in exact]
        for gap, p_value, p_holm in zip(gaps, exact, holm, strict=True):
            significant = p_holm < Fraction(1, 20)
            estimate = Fraction(str(gap["estimate"]))
            assert gap["p_value"] == pytest.approx(float(p_value), rel=1e-10, abs=0)
            assert gap["p_holm"] == pytest.approx(float(min(Fraction(1), p_holm)), rel=1e-15)
            assert gap["holm_tests"] == 5
            assert gap["marked"] is (significant and estimate > Fraction(3, 100) if layer is Layer.AUDITED else None)
            assert gap["supported"] is (significant and estimate >= Fraction(3, 100) if layer is Layer.STRICT else None)


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
    scores = score(*study(bases).all_tables)

    for layer in Layer:
        absent = {"system": "toy", "layer": layer, "family": "unit", "numerator": 0, "denominator": 0} | {
            "absent": NO_VIEW,
            "dropped_bases": 0,
        }
        no_pair = dict.fromkeys(("canonical_correct", "transformed_correct", "canonical_only", "transformed_only"), 0)
        assert find(scores, layer, "family_gap", "unit") == BLANK | absent | no_pair | {"measure": "family_gap"}
        for measure in ("view_correctness", "finished_correctness", "value_error"):
            assert find(scores, layer, measure, "unit") == BLANK | absent | {"measure": measure}
        assert find(scores, layer, "family_gap", "words")["holm_tests"] == 1
    assert scores.filter((pl.col("family") == "unit") & pl.col("template").is_not_null()).is_empty()
    assert scores.select(pl.col("p_value", "p_holm").is_nan().fill_null(False).any()).row(0) == (False, False)


def test_a_family_that_always_ran_into_the_cap_has_a_reason_of_its_own() -> None:
    cut = answer("truncation_error")
    scores = score(*study({"a-0001": {Family.CANONICAL: OK, Family.WORDS: cut}}).all_tables)

    assert find(scores, "audited", "finished_correctness", "words") == BLANK | {
        "system": "toy",
        "layer": "audited",
        "measure": "finished_correctness",
        "family": "words",
        "numerator": 0,
        "denominator": 0,
        "absent": NONE_FINISHED,
        "dropped_bases": 0,
    }
    assert find(scores, "audited", "finished_correctness", "unit")["absent"] == NO_VIEW
    assert find(scores, "audited", "finished_correctness", "canonical")["estimate"] == "1"


@pytest.mark.parametrize(("worth", "solved"), [(OK, 1), (UNREAD, 0)])
def test_one_base_with_its_canonical_view_alone_has_no_family_test(worth: Answer, solved: int) -> None:
    scores = score(*study({"a-0001": {Family.CANONICAL: worth}}).tables)
    known: Row = BLANK | {"system": "toy", "layer": "strict", "dropped_bases": 0}
    one: Row = {"numerator": solved, "denominator": 1, "estimate": str(solved)}
    no_gap: Row = {"numerator": 0, "denominator": 1, "estimate": "0", "canonical_only": 0, "transformed_only": 0}
    no_gap |= {"canonical_correct": solved, "transformed_correct": solved}

    assert find(scores, "strict", "h1") == known | {
        "measure": "h1",
        "numerator": 0,
        "denominator": 0,
        "holm_tests": 0,
        "absent": NO_TEST,
    }
    assert find(scores, "strict", "h2") == known | no_gap | {"measure": "h2", "supported": False}
    assert find(scores, "strict", "orbit_gap") == known | no_gap | {"measure": "orbit_gap"}
    assert find(scores, "strict", "orbit_correctness") == known | one | {"measure": "orbit_correctness"}
    assert find(scores, "strict", "orbit_invariance") == known | one | {"measure": "orbit_invariance"}
    assert scores["p_holm"].null_count() == scores.height
    assert set(scores["orbit_size"]) == {None, 1}


@pytest.mark.parametrize(("both", "neither"), [(4, 0), (0, 4)], ids=["all correct", "all wrong"])
def test_no_discordant_pair_means_p_is_one(both: int, neither: int) -> None:
    bases = pairs(Family.UNIT, both=both, canonical_only=0, transformed_only=0, neither=neither)
    scores = score(*study(bases).tables)
    known: Row = BLANK | {"system": "toy", "denominator": 4, "dropped_bases": 0}
    no_gap: Row = {"numerator": 0, "estimate": "0", "canonical_only": 0, "transformed_only": 0}
    no_gap |= {"canonical_correct": both, "transformed_correct": both}
    tested: Row = {"p_value": 1.0, "p_holm": 1.0, "holm_tests": 1}

    for layer, decided in ((Layer.STRICT, "supported"), (Layer.AUDITED, "marked")):
        assert find(scores, layer, "family_gap", "unit") == known | no_gap | tested | {
            "layer": layer,
            "measure": "family_gap",
            "family": "unit",
            decided: False,
        }
        assert find(scores, layer, "orbit_correctness") == known | {
            "layer": layer,
            "measure": "orbit_correctness",
            "numerator": both,
            "estimate": "1" if both else "0",
        }
    h1: Row = {"numerator": 0, "denominator": 1, "estimate": "0", "holm_tests": 1, "supported": False}
    assert find(scores, "strict", "h1") == known | h1 | {"layer": "strict", "measure": "h1"}


def digests(whole: Study) -> str:
    return content_digest(score(*whole.all_tables))


def test_row_order_and_shards_do_not_change_the_digest() -> None:
    whole = study(with_details(random_orbits(5, 80), 5))

    def in_shards(table: pl.DataFrame, shards: int) -> pl.DataFrame:
        return pl.concat([table.gather_every(shards, offset) for offset in range(shards)], rechunk=False)

    sharded = [in_shards(table, shards) for table, shards in zip(whole.all_tables, (1, 2, 3, 5), strict=True)]

    assert digests(whole) == digests(whole.shuffled(7))
    assert digests(whole) == content_digest(score(*sharded))


def test_another_system_leaves_a_systems_rows_as_they_are() -> None:
    alone, *others = (score(*study(random_orbits(seed, 40), f"s{seed}").tables) for seed in (3, 1, 2))
    together = collect([others[0], alone, others[1]])

    assert content_digest(together.filter(pl.col("system") == "s3")) == content_digest(collect([alone]))


@pytest.mark.parametrize("name", ["answers", "audits", "responses"])
def test_missing_repeated_and_unknown_responses_are_counted_and_named(name: str) -> None:
    bases = pairs(Family.WORDS, both=3, canonical_only=1, transformed_only=0, neither=0)
    whole = study(bases)
    table = getattr(whole, name)
    words = pl.col("view_id").str.ends_with("/words")

    with pytest.raises(TableError, match=rf"^{name} of toy: 4 views are missing: a-0001/words, a-0002/words, "):
        score(*replace(whole, **{name: table.filter(~words)}).all_tables)
    with pytest.raises(TableError, match=rf"^{name}: 4 views are answered more than once: a-0001/words, "):
        score(*replace(whole, **{name: pl.concat([table, table.filter(words)])}).all_tables)
    stray = table.head(2).with_columns(view_id=pl.Series(["a-0009/words", "b-0001/unit"]))
    with pytest.raises(TableError, match=rf"^{name}: 2 views are not in the views table: a-0009/words, b-0001/unit\. "):
        score(*replace(whole, **{name: pl.concat([table, stray])}).all_tables)


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
    assert gap["p_value"] == pytest.approx(float(tail), rel=1e-10, abs=0)
    assert gap["marked"] is True
