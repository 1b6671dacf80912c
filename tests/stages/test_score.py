"""Scores agree with a count by hand of the same answers, and their tests with the same in rationals."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings

from exact import exact_mcnemar, step_down
from samequantity.domain.verdicts import Layer, Status
from samequantity.domain.views import TRANSFORMATIONS, Family
from samequantity.errors import TableError
from samequantity.scoring.columns import SCORES as SCHEMA
from samequantity.scoring.measures import Measure
from samequantity.stages.collect import collect
from samequantity.stages.score import score
from samequantity.store.digests import content_digest
from studies import (
    OK,
    RECOVERED,
    UNREAD,
    Answer,
    Orbits,
    answer,
    detailed_answers,
    one_row,
    orbits,
    pairs,
    random_orbits,
    study,
    with_details,
)

Orbit = Mapping[Family, Answer]


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
    assert one_row(scores, "strict", "view_correctness", family="canonical") == scores.row(0, named=True)
    assert {"-1", "1", "2", "scientific", "q1"} <= set(scores["category"])
    assert {None, 1, 2, 3, 4} == set(scores["orbit_size"])


@pytest.mark.parametrize("seed", range(3))
def test_the_tests_of_a_layer_follow_from_its_pairs_in_rationals(seed: int) -> None:
    scores = score(*study(random_orbits(seed, 300)).tables)

    for layer in Layer:
        gaps = [one_row(scores, layer, "family_gap", family=family) for family in TRANSFORMATIONS]
        exact = [exact_mcnemar(gap["canonical_only"], gap["transformed_only"]) for gap in gaps]
        for gap, p_value, p_holm in zip(gaps, exact, step_down(exact), strict=True):
            significant = p_holm < Fraction(1, 20)
            estimate = Fraction(gap["estimate"])
            assert gap["p_value"] == pytest.approx(float(p_value), rel=1e-10, abs=0)
            assert gap["p_holm"] == pytest.approx(float(p_holm), rel=1e-15)
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

    assert one_row(scores, "audited", "recovered", family="canonical")["estimate"] == "1/3"
    assert one_row(scores, "audited", "recovered", family="words")["estimate"] == "2/3"
    assert scores.filter((pl.col("measure") == "recovered") & (pl.col("layer") == "strict")).is_empty()


def test_equal_wrong_values_are_consistent_wrong_and_different_ones_are_not() -> None:
    bases: Orbits = {
        "a-0001": {Family.CANONICAL: answer("value_error"), Family.UNIT: answer("value_error")},
        "a-0002": {Family.CANONICAL: answer("value_error"), Family.UNIT: answer("value_error", wrong="1")},
        "a-0003": {Family.CANONICAL: answer("value_error"), Family.UNIT: UNREAD},
    }
    scores = score(*study(bases).tables)

    assert one_row(scores, "strict", "orbit_invariance")["numerator"] == 1
    assert one_row(scores, "strict", "consistent_wrong")["numerator"] == 1
    assert one_row(scores, "strict", "orbit_correctness")["numerator"] == 0


@pytest.mark.parametrize(("lost", "marked", "supported"), [(29, False, False), (30, False, True), (31, True, True)])
def test_three_points_are_compared_exactly(lost: int, marked: bool, supported: bool) -> None:
    """30 per 1,000 reaches the threshold, as H1 and H2 ask, and does not exceed it, as the mark asks."""
    bases = pairs(Family.FRACTION, both=1000 - lost, canonical_only=lost, transformed_only=0, neither=0)
    scores = score(*study(bases).tables)

    assert one_row(scores, "audited", "family_gap", family="fraction")["marked"] is marked
    assert one_row(scores, "audited", "family_gap", family="fraction")["supported"] is None
    assert one_row(scores, "strict", "family_gap", family="fraction")["supported"] is supported
    assert one_row(scores, "strict", "family_gap", family="fraction")["marked"] is None
    assert one_row(scores, "strict", "h1")["supported"] is supported
    assert one_row(scores, "strict", "h2")["supported"] is supported


def test_a_large_gap_without_significance_supports_h2_alone() -> None:
    bases = pairs(Family.FRACTION, both=5, canonical_only=5, transformed_only=0, neither=0)
    scores = score(*study(bases).tables)

    assert one_row(scores, "strict", "family_gap", family="fraction")["p_holm"] == pytest.approx(2 / 2**5)
    assert one_row(scores, "strict", "h1")["supported"] is False
    assert one_row(scores, "strict", "h2")["supported"] is True
    assert one_row(scores, "audited", "family_gap", family="fraction")["marked"] is False


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
    words, unit = (one_row(scores, "strict", "family_gap", family=family) for family in ("words", "unit"))

    assert (words["holm_tests"], unit["holm_tests"]) == (2, 2)
    assert unit["p_holm"] == pytest.approx(2 * (2 / 2**9))
    assert words["p_holm"] == pytest.approx(2 / 2**6)
    assert one_row(scores, "audited", "family_gap", family="unit")["p_value"] == 1.0
    assert one_row(scores, "audited", "family_gap", family="words")["p_holm"] == pytest.approx(2 * (2 / 2**6))


def digest(tables: Iterable[pl.DataFrame]) -> str:
    return content_digest(score(*tables))


def test_row_order_and_shards_do_not_change_the_digest() -> None:
    whole = study(with_details(random_orbits(5, 80), 5))

    def in_shards(table: pl.DataFrame, shards: int) -> pl.DataFrame:
        return pl.concat([table.gather_every(shards, offset) for offset in range(shards)], rechunk=False)

    sharded = [in_shards(table, shards) for table, shards in zip(whole.all_tables, (1, 2, 3, 5), strict=True)]

    assert digest(whole.all_tables) == digest(whole.shuffled(7).all_tables) == digest(sharded)


def test_another_system_leaves_a_systems_rows_as_they_are() -> None:
    alone, *others = (score(*study(random_orbits(seed, 40), f"s{seed}").tables) for seed in (3, 1, 2))
    together = collect([others[0], alone, others[1]])

    assert content_digest(together.filter(pl.col("system") == "s3")) == content_digest(collect([alone]))


def test_responses_that_do_not_answer_every_view_are_refused() -> None:
    """As is all else that `outcomes` refuses."""
    whole = study(pairs(Family.WORDS, both=3, canonical_only=1, transformed_only=0, neither=0))
    cut = whole.responses.filter(~pl.col("view_id").str.ends_with("/words"))

    with pytest.raises(TableError, match=r"^responses of toy: 4 views are missing: a-0001/words, a-0002/words, "):
        score(*whole.tables, cut)


def test_dropped_bases_stand_in_every_row() -> None:
    whole = study(random_orbits(5, 20))
    cut = whole.answers.filter(~pl.col("view_id").is_in(["t1-0001/canonical", "t2-0002/canonical"]))

    with pytest.raises(TableError, match="2 views are missing"):
        score(whole.views, cut, whole.audits)
    scores = score(whole.views, cut, whole.audits, complete_orbits_only=True)

    assert scores["dropped_bases"].unique().to_list() == [2]
    assert one_row(scores, "strict", "orbit_gap")["denominator"] == 18
