"""LaTeX tables compile whatever a system is called, say what the plain text says, and fit their pages."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tex
from samequantity.reporting.latex import PAGE_ROWS, latex_escaped, to_latex
from samequantity.reporting.tabular import Heading, Table

# What LaTeX sets as it is, up to the signs that stand for each other (a minus for a hyphen, " for a pair of quotes).
LETTERS = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S"), exclude_characters="'\""), min_size=1)
CELLS = st.lists(LETTERS, min_size=1, max_size=3).map(" ".join)


def table(rows: list[list[str]], caption: str = "A title. More of it.") -> Table:
    """One column of text and one of numbers."""
    headings = (Heading(text="System"), Heading(text="Gap, points", is_number=True))
    return Table(name="toy", caption=caption, data=pl.DataFrame(), headings=headings, rows=rows)


def written(rows: list[list[str]], caption: str = "A title. More of it.") -> str:
    return to_latex(table(rows, caption)).decode()


@given(CELLS)
def test_plain_text_is_read_back(text: str) -> None:
    assert tex.plain(latex_escaped(text)).replace("-", "") == text.replace("-", "")


@given(st.text())
def test_no_text_has_a_bare_sign_of_latex(text: str) -> None:
    tex.plain(latex_escaped(text))


@given(st.lists(st.tuples(CELLS, st.sampled_from(["1,000", "7.5 [5.8, 9.3]", "-0.6 [-1.2, -0.1]", "3.2e-65", "–"]))))
def test_rows_are_read_back_with_every_name(rows: list[tuple[str, str]]) -> None:
    """A name stands once for the rows that it joins, never for others."""
    found = tex.read(written([list(row) for row in rows]))

    assert [list(row) for row in rows] == found.rows
    assert ["System", "Gap, points"] == found.headings
    assert "lr" == found.alignment


@pytest.mark.parametrize(
    "name", ["[1]", "*a", "[", "**", "a -- b", "a'''b", "?`", "\\\\[2pt]", "}{", "$x$", "100%", "~^"]
)
def test_a_name_that_latex_would_take_for_more_than_a_name(name: str) -> None:
    found = tex.read(written([[name, "1"], [name, "2"], ["b", "3"]], caption=f"A title. Without results: {name}."))

    assert [name, name, "b"] == [row[0] for row in found.rows]
    assert f"A title. Without results: {name}." == found.caption


def test_signs_of_a_row_of_the_same_kind_are_not_joined() -> None:
    assert r"a-{}-b '{}' ,{}," == latex_escaped("a--b '' ,,")


def test_numbers_have_the_signs_of_mathematics() -> None:
    lines = written([["a-1", "-0.6 [-1.2, 0.1]"], ["b", "3.2e-65"], ["c", "2.8e-04"], ["d", "< 1e-300"]]).splitlines()

    assert r"a-1 & $-$0.6 [$-$1.2, 0.1] \\" in lines
    assert r"b & $3.2 \times 10^{-65}$ \\" in lines
    assert r"c & $2.8 \times 10^{-4}$ \\" in lines
    assert r"d & $< 1 \times 10^{-300}$ \\" in lines


def test_what_fits_a_page_floats_and_what_does_not_goes_on() -> None:
    short, long = (written([["a", str(number)] for number in range(rows)]) for rows in (PAGE_ROWS, PAGE_ROWS + 1))

    assert "table*" == tex.read(short).environment
    assert "longtable" == tex.read(long).environment
    assert short.startswith("% Packages: booktabs.\n")
    assert long.startswith("% Packages: booktabs, longtable (in a document of one column).\n")
    # A page may begin anywhere in a long table, so that each row has its name.
    assert 1 == short.count("\na & ")
    assert PAGE_ROWS + 1 == long.count("\na & ")


def test_a_table_has_a_label_and_a_short_caption_for_a_list_of_tables() -> None:
    found = written([], caption="A title with 5 % of |k|. More of it.")

    assert r"\caption[{A title with 5~\% of \textbar{}k\textbar{}}]{A title" in found
    assert "toy" == tex.read(found).label
    assert [] == tex.read(found).rows


def test_letters_that_pdflatex_may_lack_are_left_and_announced() -> None:
    found = written([["модель", "1"]])

    assert "модель" in found
    assert "LuaLaTeX or XeLaTeX" in found
    assert "LuaLaTeX" not in written([["a − b × c ≥ 10⁻² …", "–"]])


def test_a_wide_table_is_set_in_small_type() -> None:
    assert r"\small" in written([["a", "1"]])
    assert r"\fontsize{6}{7}\selectfont" in written([["a" * 60, "1" * 60]])


def test_a_table_that_is_too_wide_for_a_page_stands_on_its_side() -> None:
    wide = written([["a" * 120, "1"]])

    assert wide.splitlines()[0] == "% Packages: booktabs, pdflscape."
    assert [line for line in wide.splitlines() if "landscape" in line and not line.startswith("%")] == [
        r"\begin{landscape}",
        r"\end{landscape}",
    ]
    assert "landscape" not in written([["a" * 60, "1"]])
