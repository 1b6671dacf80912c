"""Tokens per quantity are counted by system and family, each beside its canonical form, the same in every form."""

import io
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product

import polars as pl
import pytest

import tex
from pages import caption, cells, headings
from pages import results as study_results
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.reporting.latex import to_latex
from samequantity.reporting.layouts.tokens import tokens
from samequantity.reporting.results import BY_TEMPLATE, POOLED, Results, Strata, gather
from samequantity.reporting.tabular import Table, to_csv, to_markdown
from samequantity.scoring.columns import TOKENS
from samequantity.stages.tables import tables
from studies import OK

SYSTEMS = ["qwen|4b", "a server", "mistral"]


@cache
def scored() -> tuple[pl.DataFrame, pl.DataFrame]:
    return study_results({"a-0001": {Family.CANONICAL: OK, Family.WORDS: OK}}, *SYSTEMS)


@cache
def results() -> Results:
    """Three systems with scores, shown in this order, and one without."""
    return gather(*scored(), [*SYSTEMS, "absent"])


def row(
    base: str, family: Family, parameter: str, pieces: str, *, with_unit: int | None = None, rewritten: bool = True
) -> dict[str, object]:
    """One quantity of a view, its pieces parted by |."""
    cut = pieces.split("|")
    return {
        "system": "qwen|4b",
        "view_id": f"{base}/{family}",
        "base_id": base,
        "template": base.partition("-")[0],
        "family": family.value,
        "parameter": parameter,
        "rewritten": rewritten and family is not Family.CANONICAL,
        "quantity": "".join(cut).strip(),
        "unit": None if with_unit is None else "liters",
        "tokens": len(cut),
        "tokens_with_unit": len(cut) if with_unit is None else with_unit,
        "pieces": cut,
        "ids": [7] * len(cut),
        "prompt_tokens": 90,
        "prompt_sha256": "0" * 64,
    }


FRAME = pl.DataFrame(
    [
        row("pour-0001", Family.CANONICAL, "a", "0|.|7|5", with_unit=5),
        row("pour-0001", Family.CANONICAL, "n", " |1|2"),
        row("pour-0001", Family.FRACTION, "a", "3|/|4", with_unit=4),
        row("pour-0001", Family.FRACTION, "n", " |1|2", rewritten=False),
        row("pour-0001", Family.WORDS, "a", "0|.|7|5", with_unit=5, rewritten=False),
        row("pour-0001", Family.WORDS, "n", " tw|el|ve"),
        row("pour-0002", Family.CANONICAL, "a", "1|2", with_unit=3),
        row("pour-0002", Family.CANONICAL, "n", " 4"),
        row("pour-0002", Family.WORDS, "a", "1|2", with_unit=3, rewritten=False),
        row("pour-0002", Family.WORDS, "n", " four"),
        row("add-0001", Family.CANONICAL, "a", "1|0", with_unit=3),
        row("add-0001", Family.FRACTION, "a", "2|0|/|2", with_unit=5),
        row("add-0001", Family.SCIENTIFIC, "a", r"1| \xc3|\x97| |1|0|^|1", with_unit=9),
    ],
    schema=TOKENS,
)  # fmt: skip
MISTRAL = FRAME.with_columns(system=pl.lit("mistral"), tokens=pl.col("tokens") + 1)
BOTH = pl.concat([MISTRAL, FRAME])


def test_what_a_family_rewrites_is_counted_beside_its_canonical_form() -> None:
    """Two numbers become fractions, two become words, one becomes scientific; the rest of their views is left out."""
    table = tokens(FRAME, results(), POOLED)

    assert [
        ["qwen|4b", "fraction", "7/2 = 3.500 (3–4)", "6/2 = 3.000 (2–4)", "1|0 → 2|0|/|2"],
        ["qwen|4b", "scientific", "8/1 = 8.000 (8–8)", "2/1 = 2.000 (2–2)", r"1|0 → 1|·\xc3|\x97|·|1|0|^|1"],
        ["qwen|4b", "words", "4/2 = 2.000 (1–3)", "4/2 = 2.000 (1–3)", "·|1|2 → ·tw|el|ve"],
    ] == [list(row) for row in table.rows]
    assert {
        "system": "qwen|4b",
        "family": "fraction",
        "numerator": 7,
        "denominator": 2,
        "estimate": 3.5,
        "fewest": 3,
        "most": 4,
        "numerator_with_unit": 9,
        "example": "2|0|/|2",
        "canonical_numerator": 6,
        "canonical_estimate": 3.0,
        "canonical_fewest": 2,
        "canonical_most": 4,
        "canonical_numerator_with_unit": 8,
        "canonical_example": "1|0",
    } == table.data.row(0, named=True)


def test_templates_can_be_told_apart() -> None:
    table = tokens(FRAME, results(), BY_TEMPLATE)

    assert [("add", "fraction"), ("add", "scientific"), ("pour", "fraction"), ("pour", "words")] == [
        (row[1], row[2]) for row in table.rows
    ]
    assert "4/1 = 4.000 (4–4)" == table.rows[0][3]
    pooled = tokens(FRAME, results(), POOLED).data.group_by("family").agg(pl.col("numerator", "denominator").sum())
    summed = table.data.group_by("family").agg(pl.col("numerator", "denominator").sum())
    assert pooled.sort("family").equals(summed.sort("family"))


@pytest.mark.parametrize("strata", [POOLED, BY_TEMPLATE])
def test_the_order_of_rows_does_not_matter_and_systems_are_as_in_the_study(strata: Strata) -> None:
    table, other = (tokens(frame, results(), strata) for frame in (BOTH, BOTH.sample(fraction=1, shuffle=True, seed=3)))

    assert ["qwen|4b", "mistral"] == list(dict.fromkeys(row[0] for row in table.rows))
    assert table.data.equals(other.data)
    assert table.rows == other.rows


@pytest.mark.parametrize("strata", [POOLED, BY_TEMPLATE])
def test_text_and_data_agree_in_every_form(strata: Strata) -> None:
    table = tokens(BOTH, results(), strata)
    markdown, latex = to_markdown(table).decode(), tex.read(to_latex(table).decode())
    data = pl.read_csv(io.BytesIO(to_csv(table)))

    assert (caption(markdown), headings(markdown), cells(markdown)) == (
        *(latex.caption, latex.headings),
        [[cell.replace("\\", "") for cell in row] for row in latex.rows],
    )
    assert data.equals(table.data)
    for cell, datum in zip(table.rows, table.data.rows(named=True), strict=True):
        for text, form in zip(cell[-3:-1], ("", "canonical_"), strict=True):
            total, of, mean, fewest, most = re.fullmatch(r"(\d+)/(\d+) = ([\d.]+) \((\d+)–(\d+)\)", text).groups()
            assert (int(total), int(of)) == (datum[f"{form}numerator"], datum["denominator"])
            assert float(mean) == pytest.approx(datum[f"{form}estimate"], abs=0.0005)
            assert Fraction(int(total), int(of)) == Fraction(datum[f"{form}estimate"]).limit_denominator(10**6)
            assert (int(fewest), int(most)) == (datum[f"{form}fewest"], datum[f"{form}most"])
        assert cell[-1] == f"{datum['canonical_example']} → {datum['example']}"


def test_the_caption_says_what_is_counted_and_that_it_explains_nothing() -> None:
    found = tokens(FRAME, results(), POOLED).caption

    for part in (
        "the tokens that hold a byte of the number as written, its percent sign included and its unit not",
        "no result explained",
        "Token counts compare within a system only.",
        "protocol-fixed, not preregistered",
        "Without a vocabulary at hand: a server, mistral, absent.",
    ):
        assert part in found
    assert "Without a vocabulary" not in tokens(all_systems(), results(), POOLED).caption
    assert "by view family and template" in tokens(FRAME, results(), BY_TEMPLATE).caption


def all_systems() -> pl.DataFrame:
    return pl.concat([FRAME.with_columns(system=pl.lit(name)) for name in [*SYSTEMS, "absent"]])


def test_both_tables_come_in_every_form_when_tokens_are_given() -> None:
    made = tables(*scored(), systems=SYSTEMS, tokens=FRAME)

    names = product(("tokens", "tokens_by_template"), ("csv", "md", "parquet", "tex"))
    assert {f"{name}.{form}" for name, form in names} == made.keys() - tables(*scored(), systems=SYSTEMS).keys()


def test_no_rewritten_quantity_is_an_empty_table_with_all_its_columns() -> None:
    whole = tokens(FRAME, results(), POOLED)
    for frame in (FRAME.clear(), FRAME.filter(family="canonical")):
        table: Table = tokens(frame, results(), POOLED)
        assert (0, whole.data.schema) == (len(table.rows), table.data.schema)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop("ids", "unit"), "tokens: column unit, ids is missing. Make the table again"),
        (lambda frame: frame.with_columns(tokens=pl.lit(None, pl.Int64)), "tokens: column tokens is empty in places"),
        (lambda frame: frame.with_columns(system=pl.lit("guess")), "tokens: guess is no system of this study"),
        (lambda frame: frame.with_columns(family=pl.lit("roman")), "tokens: roman is no view family"),
        (lambda frame: pl.concat([frame, frame[:2]]), "tokens: 2 rows are there twice. Pass each system's table once"),
        (
            lambda frame: frame.filter(~((pl.col("base_id") == "add-0001") & (pl.col("family") == "canonical"))),
            "tokens: 2 quantities have no canonical form, for instance of add-0001/fraction. Make the table again",
        ),
    ],
)
def test_what_does_not_fit_the_study_is_refused(change: Callable[[pl.DataFrame], pl.DataFrame], message: str) -> None:
    with pytest.raises(TableError, match=message):
        tokens(change(FRAME), results(), POOLED)
