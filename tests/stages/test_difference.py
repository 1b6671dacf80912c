"""What a changed parser changed is counted: outcomes old → new, and the rates that move."""

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings

from samequantity.domain.verdicts import Status
from samequantity.errors import TableError
from samequantity.stages.difference import Movement, Transition, difference
from studies import UNREAD, answer, orbits, study


def answers(**statuses: str) -> pl.DataFrame:
    """A table of answers: view → status, with the value after a colon."""
    rows = [
        {"system": "toy", "view_id": view.replace("__", "/"), "status": text.partition(":")[0]}
        | {"value": text.partition(":")[2] or None}
        for view, text in statuses.items()
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("system", "view_id", "status", "value"), pl.String()))


OLD = answers(
    a__canonical="correct:12", a__unit="parse_error", b__canonical="parse_error", b__unit="value_error:3", c="correct:1"
)


def test_equal_tables_differ_in_nothing() -> None:
    found = difference(OLD, OLD.reverse())

    assert (5, (), ()) == (found.compared, found.transitions, found.movements)


def test_outcomes_are_counted_from_old_to_new_the_most_frequent_first() -> None:
    new = answers(
        a__canonical="correct:12",
        a__unit="correct:12",
        b__canonical="correct:3",
        b__unit="value_error:4",
        c="unit_error",
    )
    found = difference(OLD, new)

    assert [
        ("parse_error", "correct", ("a/unit", "b/canonical")),
        ("value_error", "value_error", ("b/unit",)),
        ("correct", "unit_error", ("c",)),
    ] == [(change.old, change.new, change.views) for change in found.transitions]
    assert Transition(system="toy", old=Status.CORRECT, new=Status.UNIT_ERROR, views=("c",)) in found.transitions


def test_the_rates_that_move_are_given_over_their_denominators() -> None:
    new = answers(
        a__canonical="correct:12",
        a__unit="correct:12",
        b__canonical="value_error:3",
        b__unit="value_error:3",
        c="correct:1",
    )
    moved = {movement.measure: movement for movement in difference(OLD, new).movements}

    assert Movement(system="toy", measure="correctness", old=2, new=3, denominator=5) == moved["correctness"]
    assert Fraction(1, 5) == moved["correctness"].change
    assert (0, 1, 2) == _counts(moved["correctness, unit"])
    assert (0, 1, 2) == _counts(moved["orbit correctness"])
    assert (0, 2, 2) == _counts(moved["orbit invariance"]), "both orbits are now invariant, one of them wrong"
    assert "correctness, canonical" not in moved


def _counts(movement: Movement) -> tuple[int, int, int]:
    return movement.old, movement.new, movement.denominator


def test_systems_are_kept_apart() -> None:
    two = pl.concat([OLD.with_columns(system=pl.lit(name)) for name in ("one", "two")])
    changed = pl.when(pl.col("system") == "two").then(pl.lit("unit_error")).otherwise("status")
    found = difference(two, two.with_columns(status=changed, value=pl.lit(None, pl.String)))

    assert {"two"} == {movement.system for movement in found.movements}


@settings(deadline=None, max_examples=40)
@given(before=orbits())
def test_transitions_and_movements_agree(before):
    """Reading one canonical view no longer moves the correctness by what the transitions say."""
    base = next(iter(before))
    first = next(iter(before[base]))
    after = {**before, base: {**before[base], first: UNREAD}}
    found = difference(study(before).answers, study(after).answers)
    gained = sum(
        len(change.views) * ((change.new is Status.CORRECT) - (change.old is Status.CORRECT))
        for change in found.transitions
    )
    moved = [movement.new - movement.old for movement in found.movements if movement.measure == "correctness"]

    assert sum(moved) == gained
    assert found.compared == sum(len(orbit) for orbit in before.values())
    assert bool(found.transitions) is (before[base][first].strict is not answer("parse_error").strict)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (OLD, OLD.head(3), "only the old table holds 2 answers: toy: b/unit, toy: c"),
        (OLD.head(4), OLD, "only the new table holds 1 answer: toy: c"),
        (OLD, OLD.with_columns(system=pl.lit("tiny")), "only the old table holds 5 answers"),
        (OLD.vstack(OLD.head(1)), OLD, "the old table answers a/canonical of toy more than once"),
        (OLD, OLD.with_columns(status=pl.lit("fine")), "the new table gives a/canonical the status 'fine'; there are"),
        (OLD, OLD.with_columns(status=pl.lit(None, pl.String)), "the new table gives a/canonical the status None"),
    ],
)
def test_tables_that_cannot_be_compared_are_an_error(old: pl.DataFrame, new: pl.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        difference(old, new)
