"""What is counted by category agrees with a count in plain Python, view by view."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given, settings

from exact import quartile
from samequantity.domain.exchange import FinishReason
from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.scoring.counts import counts
from samequantity.scoring.outcomes import outcomes
from studies import OK, UNREAD, Answer, Orbits, answer, detailed_answers, orbits, study

Key = tuple[str | None, str, str, str | None, str | None]
"""Layer, measure, family, template, category."""
Numbers = tuple[int | None, int, str | None]
"""Numerator, denominator, estimate."""

WHOLES = ["strict final_lines", "audited final_lines", "audited magnitude_drop", "audited rewrite"]
WHOLES += ["audited rewrite_recovered", "null length_finished"]


def marks(given: Answer) -> Iterator[tuple[str, str | None]]:
    """Layer and measure in one word each, with the category: all that one view counts for."""
    for layer, lines in (("strict", given.strict_final_lines), ("audited", given.audited_final_lines)):
        yield f"{layer} final_lines", str(lines)
        if lines in (2, 3):
            yield f"{layer} final_lines", None
    if given.magnitude_k is not None:
        yield "audited magnitude_drop", None
        yield "audited magnitude_drop", f"{given.magnitude_k}"
    if given.rewrites:
        yield "audited rewrite", None
        for rewrite in given.rewrites:
            yield "audited rewrite", rewrite
    if given.rewrites and given.strict != "correct" and given.audited == "correct":
        yield "audited rewrite_recovered", None
        for rewrite in given.rewrites:
            yield "audited rewrite_recovered", rewrite
    if given.finish_reason == "length":
        yield "null length_finished", None


def counted_by_hand(bases: Orbits) -> dict[Key, Numbers]:
    found: dict[Key, Numbers] = {}
    for template in {None, *(base[:-5] for base in bases)}:
        for family in Family:
            views = [
                orbit[family] for base, orbit in bases.items() if template in (None, base[:-5]) and family in orbit
            ]
            marked = [mark for given in views for mark in marks(given)]
            for mark in {*marked, *((whole, None) for whole in WHOLES if views)}:
                layer, measure = mark[0].split()
                key = (None if layer == "null" else layer, measure, family, template, mark[1])
                found[key] = (marked.count(mark), len(views), str(Fraction(marked.count(mark), len(views))))
            tokens = [given.completion_tokens for given in views if given.completion_tokens is not None]
            for quarter, category in enumerate(("q1", "median", "q3"), start=1) if tokens else ():
                key = (None, "completion_tokens", family, template, category)
                found[key] = (None, len(tokens), str(quartile(tokens, quarter)))
    return found


def counted(bases: Orbits) -> dict[Key, Numbers]:
    rows: list[dict[str, Any]] = counts(outcomes(*study(bases).all_tables).frame)
    found: dict[Key, Numbers] = {
        (row["layer"], row["measure"], row["family"], row["template"], row["category"]): (
            row["numerator"],
            row["denominator"],
            row["estimate"],
        )
        for row in rows
    }
    assert len(rows) == len(found)
    return found


@given(orbits(answers=detailed_answers()))
@settings(max_examples=40, deadline=None)
def test_every_count_of_every_stratum_is_that_counted_by_hand(bases: dict[str, dict[Family, Answer]]) -> None:
    assert counted_by_hand(bases) == counted(bases)


def test_nothing_is_counted_of_responses_that_were_not_given() -> None:
    rows = counts(outcomes(*study({"a-0001": {Family.CANONICAL: OK, Family.WORDS: UNREAD}}).tables).frame)

    assert set(Layer) == {row["layer"] for row in rows}
    assert {"final_lines", "magnitude_drop", "rewrite", "rewrite_recovered"} == {row["measure"] for row in rows}


def test_responses_without_a_number_of_tokens_are_still_counted_at_the_cap() -> None:
    cut = answer("truncation_error")
    bases: Orbits = {"a-0001": {Family.CANONICAL: OK}, "a-0002": {Family.CANONICAL: cut}}
    found = counted(bases)

    assert (1, 2, "1/2") == found[None, "length_finished", "canonical", None, None]
    assert [] == [key for key in found if key[1] == "completion_tokens"]


def test_only_the_cap_counts_as_the_cap() -> None:
    """A response that ended for another reason than stop is truncated too, but did not run into the cap."""
    ended = replace(answer("truncation_error"), cut_off=FinishReason.OTHER)
    found = counted({"a-0001": {Family.CANONICAL: ended}})

    assert (0, 1, "0") == found[None, "length_finished", "canonical", None, None]
