"""Comparisons agree with a count by hand, scipy, statsmodels and enumeration, and depend on the two systems alone."""

from fractions import Fraction
from functools import cache

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exact import enumerated, exact_mcnemar, resampled_by_scipy
from samequantity.domain.verdicts import Layer, Status
from samequantity.domain.views import Family
from samequantity.errors import SettingsError, TableError
from samequantity.scoring.columns import COMPARISONS, NO_VIEW
from samequantity.scoring.statistics import minimum_detectable_difference
from samequantity.stages.compare import Verdicts, compare
from samequantity.store.digests import content_digest
from studies import OK, UNREAD, Answer, Orbits, Row, one_row, orbits, random_orbits, study

SEED = 20260725
ORBIT_RATES = ("orbit_correctness", "orbit_invariance", "consistent_wrong")
GAPS = ("family_gap", "orbit_gap")
FAILURES = [status.value for status in Status if status is not Status.CORRECT]


def compared(
    first: Orbits, second: Orbits, *, names: tuple[str, str] = ("new", "old"), draws: int = 60
) -> pl.DataFrame:
    one, other = (study(given, name) for given, name in zip((first, second), names, strict=True))
    return compare(one.views, one.verdicts, other.verdicts, seed=SEED, draws=draws)


def reanswered(first: Orbits, seed: int) -> dict[str, dict[Family, Answer]]:
    """Other answers to the same views."""
    pool = [given for orbit in random_orbits(seed, 200).values() for given in orbit.values()]
    answers = iter(pool * (1 + sum(map(len, first.values())) // len(pool)))
    return {base: {family: next(answers) for family in orbit} for base, orbit in first.items()}


FIRST = random_orbits(11, 300)
SECOND = reanswered(FIRST, 12)


@cache
def sample() -> pl.DataFrame:
    """Two systems that differ in everything, compared with the draws of the protocol."""
    return compared(FIRST, SECOND, draws=10_000)


@st.composite
def two_systems(draw: st.DrawFn, max_bases: int = 6) -> tuple[Orbits, Orbits]:
    """Two systems' answers to the same views."""
    first, others = draw(orbits(max_bases)), draw(orbits(max_bases))
    pool = st.sampled_from([given for orbit in (*first.values(), *others.values()) for given in orbit.values()])
    return first, {base: {family: draw(pool) for family in orbit} for base, orbit in first.items()}


def adds(orbit: dict[Family, Answer], row: Row) -> int | None:
    """What a base adds to the numerator of the measure that a row is about; None where it is not counted."""
    layer, measure = row["layer"], row["measure"]
    status = {family: getattr(worth, layer) for family, worth in orbit.items()}
    values = [getattr(worth, f"{layer}_value") for worth in orbit.values()]
    solved = all(found is Status.CORRECT for found in status.values())
    invariant = None not in values and len(set(values)) == 1
    canonical = status[Family.CANONICAL] is Status.CORRECT
    of_orbits: dict[str, int] = {
        "orbit_correctness": solved,
        "orbit_invariance": invariant,
        "consistent_wrong": invariant and not solved,
        "orbit_gap": canonical - solved,
    }
    if row["family"] is None:
        return of_orbits[measure]
    if (family := Family(row["family"])) not in orbit:
        return None
    if measure == "family_gap":
        return canonical - (status[family] is Status.CORRECT)
    if measure == "recovered":
        return orbit[family].strict is not Status.CORRECT and orbit[family].audited is Status.CORRECT
    return status[family] is (Status.CORRECT if measure == "view_correctness" else Status(measure))


def counted(first: Orbits, second: Orbits, row: Row) -> list[tuple[int, int] | None]:
    """What each base adds in either system to the measure that a row is about; None where it is not counted."""
    found: list[tuple[int, int] | None] = []
    for base in first:
        one, other = (adds(dict(orbits[base]), row) for orbits in (first, second))
        shown = row["template"] in (None, base[:-5]) and one is not None and other is not None
        found.append((int(one or 0), int(other or 0)) if shown else None)
    return found


def sums(first: Orbits, second: Orbits, row: Row) -> tuple[list[int], list[int]]:
    """What each base adds to numerator and denominator of the difference that a row is about."""
    found = counted(first, second, row)
    return [pair[0] - pair[1] if pair else 0 for pair in found], [int(pair is not None) for pair in found]


@given(two_systems())
@settings(max_examples=8, deadline=None)
def test_every_number_is_that_of_a_count_by_hand(systems: tuple[Orbits, Orbits]) -> None:
    for row in compared(*systems).rows(named=True):
        pairs = [pair for pair in counted(*systems, row) if pair is not None]
        mine, other = sum(one for one, _ in pairs), sum(other for _, other in pairs)
        assert row["denominator"] == len(pairs)
        assert (row["system_numerator"], row["reference_numerator"]) == (mine, other)
        if pairs:
            assert row["difference"] == str(Fraction(mine - other, len(pairs)))
            assert Fraction(row["difference"]) == Fraction(row["system_estimate"]) - Fraction(row["reference_estimate"])
        expected = (None, None) if row["measure"] in GAPS else (pairs.count((1, 0)), pairs.count((0, 1)))
        assert (row["system_only"], row["reference_only"]) == expected


def test_rows_are_those_of_the_schema_in_its_order() -> None:
    found = sample()
    measures = ["view_correctness", "family_gap", *ORBIT_RATES, "orbit_gap"]
    pooled, strata = found.filter(pl.col("template").is_null()), found.filter(pl.col("template").is_not_null())

    assert found.schema == COMPARISONS
    assert found["layer"].unique(maintain_order=True).to_list() == list(Layer)
    assert not found.select("layer", "measure", "family", "template").is_duplicated().any()
    for layer, beside in (("strict", FAILURES), ("audited", ["recovered", *FAILURES])):
        of_layer = pooled.filter(pl.col("layer") == layer)
        assert of_layer["measure"].unique(maintain_order=True).to_list() == [*measures, *beside]
        assert of_layer.filter(measure="view_correctness")["family"].to_list() == list(Family)
    assert strata["measure"].unique(maintain_order=True).to_list() == measures
    assert strata["template"].unique().sort().to_list() == ["t0", "t1", "t2"]
    assert found.filter(pl.col("denominator") == 0).is_empty()


def test_mcnemar_and_holm_are_those_of_rationals_and_of_statsmodels() -> None:
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests

    tested = sample().filter(pl.col("p_value").is_not_null())

    assert set(tested["measure"]) == {"view_correctness", *ORBIT_RATES}
    assert tested["template"].null_count() == tested.height == 2 * (6 + 3)
    for row in tested.rows(named=True):
        one, other = row["system_only"], row["reference_only"]
        assert row["p_value"] == pytest.approx(float(exact_mcnemar(one, other)), rel=1e-12)
        assert row["p_value"] == pytest.approx(mcnemar([[0, one], [other, 0]], exact=True).pvalue, rel=1e-9)
    for layer in Layer:
        views = tested.filter(pl.col("layer") == layer, pl.col("measure") == "view_correctness")
        assert views["p_holm"].to_list() == pytest.approx(multipletests(views["p_value"], method="holm")[1], rel=1e-12)
        assert views["holm_tests"].to_list() == [6] * 6
    others = tested.filter(pl.col("measure") != "view_correctness")
    assert others.select("p_holm", "holm_tests").null_count().row(0) == (6, 6)


def one_sided(system_only: int, reference_only: int, both: int) -> tuple[Orbits, Orbits]:
    """Two systems that answer canonical views: so many bases are right in one of them alone."""
    kinds = [(OK, UNREAD)] * system_only + [(UNREAD, OK)] * reference_only + [(OK, OK)] * both
    first, second = (
        {f"a-{number:04}": {Family.CANONICAL: kind[place]} for number, kind in enumerate(kinds)} for place in (0, 1)
    )
    return first, second


@pytest.mark.parametrize(("one", "other", "both"), [(3, 2, 10), (9, 4, 0), (20, 25, 55)])
def test_the_detectable_difference_follows_from_the_discordant_pairs(one: int, other: int, both: int) -> None:
    found = one_row(compared(*one_sided(one, other, both), draws=1), "strict", "view_correctness", family="canonical")
    expected = minimum_detectable_difference(discordant=one + other, bases=one + other + both)

    assert expected == found["detectable"]
    assert (expected is None) == (one + other < 6)


@pytest.mark.parametrize(
    ("measure", "family", "layer"),
    [("view_correctness", "canonical", "strict"), ("family_gap", "fraction", "audited"), ("orbit_gap", None, "strict")],
)
def test_the_interval_agrees_with_scipys_paired_bootstrap(measure: str, family: str | None, layer: str) -> None:
    """scipy resamples the bases one by one; both ends agree within Monte-Carlo error."""
    row = one_row(sample(), layer, measure, family=family)
    expected = resampled_by_scipy(*sums(FIRST, SECOND, row))

    assert row["low"] == pytest.approx(expected.low, abs=expected.error)
    assert row["high"] == pytest.approx(expected.high, abs=expected.error)
    assert row["low"] < row["high"]


@given(two_systems(max_bases=5))
@settings(max_examples=4, deadline=None)
def test_up_to_five_bases_have_the_interval_of_the_exact_distribution(systems: tuple[Orbits, Orbits]) -> None:
    """Each end lies between the exact quantiles six standard errors to either side of its point."""
    draws = 3000
    drawn = compared(*systems, draws=draws).filter(pl.col("low").is_not_null())
    for row in drawn.rows(named=True):
        exact = enumerated(*sums(*systems, row))
        fewest, most = exact.dropped(draws)
        assert fewest <= row["dropped_draws"] <= most
        for end, point in (("low", 0.025), ("high", 0.975)):
            below, above = exact.around(point, draws - row["dropped_draws"])
            assert below <= row[end] <= above


def test_swapping_the_systems_negates_the_difference_and_mirrors_the_interval() -> None:
    one, other = sample(), compared(SECOND, FIRST, names=("old", "new"), draws=10_000)
    tests = ["p_value", "p_holm", "holm_tests", "detectable", "denominator", "dropped_draws"]

    assert [str(-Fraction(value)) for value in other["difference"]] == one["difference"].to_list()
    assert other["low"].to_list() == pytest.approx((-one["high"]).to_list(), abs=1e-12)
    assert other["high"].to_list() == pytest.approx((-one["low"]).to_list(), abs=1e-12)
    assert other["system_only"].equals(one["reference_only"])
    assert other.select(tests).equals(one.select(tests))


def test_shuffled_rows_give_the_same_digest() -> None:
    mixed = study(FIRST, "new").shuffled(3)
    other = study(SECOND, "old").shuffled(8)

    again = compare(mixed.views, mixed.verdicts, other.verdicts, seed=SEED)
    assert content_digest(sample()) == content_digest(again)


def test_the_draws_depend_on_the_seed_and_the_two_names_and_serve_every_measure() -> None:
    first, second = one_sided(9, 4, 20)
    one, other = study(first, "new"), study(second, "old")
    found = compared(first, second)
    ends = found.select("low", "high")

    assert not compare(one.views, one.verdicts, other.verdicts, seed=1, draws=60).select("low", "high").equals(ends)
    assert not compared(first, second, names=("new", "older")).select("low", "high").equals(ends)
    # Canonical views alone: the orbit is the view, and the audit changes nothing.
    same = [
        one_row(found, layer, measure, family=family)[end]
        for measure, family in (("view_correctness", "canonical"), ("orbit_correctness", None))
        for layer in Layer
        for end in ("low", "high")
    ]
    assert set(same) == set(same[:2])


@pytest.mark.parametrize(("kind", "estimate"), [(OK, "1"), (UNREAD, "0")], ids=["all correct", "all wrong"])
def test_no_discordant_pair_has_p_one_and_no_detectable_difference(kind: Answer, estimate: str) -> None:
    same: Orbits = {f"a-{number:04}": {Family.CANONICAL: kind, Family.WORDS: kind} for number in range(4)}
    found = one_row(compared(same, same), "strict", "view_correctness", family="words")

    assert (found["p_value"], found["p_holm"], found["holm_tests"], found["detectable"]) == (1.0, 1.0, 2, None)
    assert (found["system_estimate"], found["reference_estimate"], found["difference"]) == (estimate, estimate, "0")
    assert (found["low"], found["high"]) == (0.0, 0.0)


def test_one_base_has_an_interval_without_width() -> None:
    found = compared({"a-0001": {Family.CANONICAL: OK}}, {"a-0001": {Family.CANONICAL: UNREAD}})
    row = one_row(found, "strict", "view_correctness", family="canonical")

    assert (row["difference"], row["low"], row["high"], row["p_value"], row["holm_tests"]) == ("1", 1.0, 1.0, 1.0, 1)
    assert one_row(found, "strict", "orbit_gap")["difference"] == "0"


def test_an_absent_family_has_its_reason_and_is_not_counted_by_holm() -> None:
    found = compared(*one_sided(7, 0, 3))
    absent = one_row(found, "strict", "view_correctness", family="unit")

    assert (absent["denominator"], absent["absent"]) == (0, NO_VIEW)
    kept = {"system", "reference", "layer", "measure", "family", "absent"}
    counts = {
        "denominator",
        "system_numerator",
        "reference_numerator",
        "system_only",
        "reference_only",
        "dropped_bases",
    }
    assert [] == [column for column, value in absent.items() if value is not None and column not in kept | counts]
    assert one_row(found, "strict", "view_correctness", family="canonical")["holm_tests"] == 1
    assert one_row(found, "strict", "view_correctness", family="canonical")["absent"] is None
    assert set(found.select(pl.col(pl.Float64).is_nan().any()).row(0)) <= {False, None}


def test_a_draw_without_a_counted_base_is_dropped_and_counted() -> None:
    first: dict[str, dict[Family, Answer]] = {f"a-{number:04}": {Family.CANONICAL: OK} for number in range(4)}
    first["a-0001"][Family.UNIT] = OK
    found = compared(first, first, draws=400)

    assert 0 < one_row(found, "strict", "view_correctness", family="unit")["dropped_draws"] < 400
    assert one_row(found, "strict", "view_correctness", family="canonical")["dropped_draws"] == 0


def test_a_system_is_not_compared_with_itself() -> None:
    first = random_orbits(5, 8)
    with pytest.raises(TableError, match=r"both tables are of system toy\. Pass the answers and audits of two systems"):
        compared(first, reanswered(first, 6), names=("toy", "toy"))


def test_no_draw_is_refused() -> None:
    first = random_orbits(5, 8)
    with pytest.raises(SettingsError, match="draws: 0 is not a number of bootstrap draws"):
        compared(first, first, draws=0)


@pytest.mark.parametrize("role", ["system", "reference"])
def test_missing_responses_of_either_system_are_counted_and_named(role: str) -> None:
    """As is all else that `outcomes` refuses."""
    one, other = (study(given, name) for given, name in zip(one_sided(1, 1, 2), ("new", "old"), strict=True))
    pair = {"system": one.verdicts, "reference": other.verdicts}
    pair[role] = Verdicts(answers=pair[role].answers.slice(2), audits=pair[role].audits)

    with pytest.raises(TableError, match=rf"^{role}: answers.*2 views are missing: a-0000/canonical, a-0001/canonical"):
        compare(one.views, pair["system"], pair["reference"], seed=SEED)


def test_bases_that_lack_a_response_in_either_system_are_left_out_when_asked() -> None:
    first = random_orbits(5, 20)
    second = reanswered(first, 6)
    one, other = study(first, "new"), study(second, "old")
    cut = [
        Verdicts(answers=given.answers.filter(pl.col("view_id") != f"{base}/canonical"), audits=given.audits)
        for given, base in ((one, "t1-0001"), (other, "t2-0002"))
    ]
    found = compare(one.views, *cut, seed=SEED, draws=60, complete_orbits_only=True)
    kept = [
        {base: orbit for base, orbit in given.items() if base not in ("t1-0001", "t2-0002")}
        for given in (first, second)
    ]

    assert found["dropped_bases"].unique().to_list() == [2]
    assert content_digest(found.drop("dropped_bases")) == content_digest(compared(*kept).drop("dropped_bases"))


def test_two_systems_without_a_complete_base_in_common_are_refused() -> None:
    one, other = (study(given, name) for given, name in zip(one_sided(1, 1, 0), ("new", "old"), strict=True))
    cut = [
        Verdicts(answers=given.answers.filter(pl.col("view_id") != f"a-000{base}/canonical"), audits=given.audits)
        for base, given in enumerate((one, other))
    ]

    with pytest.raises(TableError, match="new, old: no base has an answer of both systems to each of its views"):
        compare(one.views, *cut, seed=SEED, complete_orbits_only=True)
