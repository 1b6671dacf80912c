"""A caption has the limits that belong to its table, in PROTOCOL's words, and names what its table lacks."""

from collections.abc import Mapping
from functools import cache

import polars as pl
import pytest

from pages import Files, caption, cells, page, results, together
from samequantity.domain.views import Family
from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.score import score
from samequantity.stages.tables import tables
from studies import OK, RECOVERED, UNREAD, Orbits, pairs, study


@cache
def made() -> Files:
    """The tables of a study of one base with three views."""
    return tables(*results({"a-0001": {Family.CANONICAL: OK, Family.WORDS: OK, Family.UNIT: RECOVERED}}, "toy"))


FIXED = "The choices are protocol-fixed, not preregistered."
HOLM = "Holm covers neither systems nor orbit summaries nor strata."
MIXTURE = "A pooled gap describes its template mixture, not a cause."
WILSON = "they cover items, not templates or checkpoints"
COMPUTED = "it shows the value in the transcript, not how it was computed"
LIMITS: Mapping[str, tuple[str, ...]] = {
    "audited_gaps": (HOLM, MIXTURE, "50 base-clustered bootstrap draws", "descriptive and not H1"),
    "audited_gaps_by_template": ("Holm does not cover them.",),
    "strict_gaps": (HOLM, MIXTURE, "strict-parser compatibility"),
    "orbits": (
        HOLM,
        MIXTURE,
        WILSON,
        "an every-view statistic falls with size",
        "H2: a strict orbit gap of at least 3",
    ),
    "orbits_by_template": (HOLM, WILSON, "an every-view statistic falls with size"),
    "orbits_by_size": (HOLM, MIXTURE, WILSON),
    "hypotheses": (HOLM, MIXTURE, "strict-parser compatibility"),
    "correctness": (WILSON, COMPUTED, "strict-parser compatibility"),
    "scientific": (WILSON, COMPUTED, "Leaving out length-finished records does not predict a higher cap."),
    "unit_by_template": (WILSON, "0 < |k| ≤ 15"),
    "magnitude_drops": ("audit_v2",),
    "completion_tokens": ("Token counts compare within a system only.", "Inclusive quartiles"),
    "failures": ("strict-parser compatibility", "A view counts under the first code that applies."),
    "final_lines": ("a truncated response is not scanned",),
    "rewrites": (COMPUTED, "audit_v2"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_caption_has_the_limits_that_belong_to_its_table(name: str) -> None:
    found = caption(page(made(), name))

    assert () == tuple(limit for limit in (*LIMITS[name], FIXED) if limit not in found)
    assert "reasoning" not in found


def test_no_caption_speaks_of_what_its_table_does_not_have() -> None:
    captions = {
        name.removesuffix(".md"): caption(page(made(), name.removesuffix(".md")))
        for name in made()
        if name.endswith(".md")
    }

    assert {"completion_tokens", "completion_tokens_by_template"} == {
        name for name, text in captions.items() if "Token counts" in text
    }
    assert {"scientific", "scientific_by_template"} == {name for name, text in captions.items() if "higher cap" in text}
    assert not any(
        "Strict:" in text for name, text in captions.items() if name.startswith(("audited", "completion", "magnitude"))
    )
    assert max(len(text.partition(" Absent:")[0]) for text in captions.values()) < 1000


def test_dropped_draws_are_said() -> None:
    orbits: Orbits = {
        "a-0001": {Family.CANONICAL: OK, Family.UNIT: UNREAD},
        "a-0002": {Family.CANONICAL: OK},
        "a-0003": {Family.CANONICAL: OK},
    }
    found = results(orbits, "toy", draws=400)
    dropped = max(found[1]["dropped_draws"].drop_nulls().to_list())

    assert dropped > 0
    assert f"were dropped: up to {dropped} of one gap" in caption(page(tables(*found), "audited_gaps"))


def test_tests_of_different_numbers_of_families_are_told_apart() -> None:
    one = results({"a-0001": {Family.CANONICAL: OK, Family.UNIT: OK}}, "one")
    two = results({"a-0001": {Family.CANONICAL: OK, Family.UNIT: OK, Family.WORDS: OK}}, "two")

    found = caption(page(tables(*together(one, two)), "audited_gaps"))

    assert "Holm adjustment over the family tests of one layer and system (one: 1; two: 2)." in found


def test_what_is_absent_is_named() -> None:
    whole = study(pairs(Family.WORDS, both=4, canonical_only=1, transformed_only=0, neither=0))
    cut = whole.answers.filter(pl.col("view_id") != "a-0002/words")
    scores = score(whole.views, cut, whole.audits, complete_orbits_only=True)
    intervals = bootstrap(whole.views, cut, whole.audits, seed=1, draws=50, complete_orbits_only=True)

    files = tables(scores, intervals, systems=["toy", "gone"])

    for name in ("correctness", "scientific", "audited_gaps", "rewrites"):
        found = caption(page(files, name))
        assert "toy: 1 bases without an answer to each view are left out." in found
        assert "toy, unit: no view of this family in the sample" in found
        assert "Without results: gone." in found
    assert ["canonical", "words"] == [row[1] for row in cells(page(files, "correctness"))]
    assert [] == cells(page(files, "scientific"))
