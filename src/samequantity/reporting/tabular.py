"""How a table becomes text: numbers rounded from exact values, CSV for programs, Markdown for readers.

A `Table` holds plain text. What a format takes for a sign of its own is escaped where that format is written (LaTeX:
`samequantity.reporting.latex`), so that a system's name, free text of the user's, is the same in all of them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import polars as pl

from samequantity.scoring.statistics import ALPHA

ABSENT = "–"
"""A cell without a value for readers; in the data such a cell is null, in CSV empty."""

_FORMULA_START = r"^[=+\-@\t\r\n＝＋－＠]"
# The brackets of an interval hold numbers (or Q1, Q3) alone and stay as they are: an escaped one begins a formula for
# some readers of Markdown.
_MARKDOWN_MARKS = re.compile(r"(?P<interval>\[[-−0-9.,Q ]+\](?![(\[:]))|[\\|*`\[\]<>&~#$]")
_OUTER_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One column of a table for readers; numbers are set to the right."""

    text: str
    is_number: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table in both of its forms.

    `data` is tidy, one observation a row, numbers as numbers. `rows` are for readers: one finished cell a heading, in
    plain text as the caption is. Rows with the same first cell belong together.
    """

    name: str
    caption: str
    data: pl.DataFrame
    headings: tuple[Heading, ...]
    rows: Sequence[Sequence[str]]


def assembled(
    *,
    name: str,
    caption: str,
    place: Sequence[str],
    results: Sequence[str | Heading],
    rows: Sequence[Sequence[str]],
    data: Sequence[Mapping[str, object]],
    schema: Mapping[str, pl.DataType],
) -> Table:
    """A table whose first columns say where a row belongs, in both forms, and whose other columns are results.

    `place` names columns of the data; those that `schema` does not have are text. A result's heading that is plain text
    stands over numbers. The data have the columns of `place`, then of `schema`, and nothing else, also without a row.
    """
    columns: dict[str, pl.DataType] = {column: pl.String() for column in place if column not in schema} | dict(schema)
    return Table(
        name=name,
        caption=caption,
        data=pl.DataFrame([[row.get(column) for column in columns] for row in data], schema=columns, orient="row"),
        headings=(
            *(Heading(text=column.replace("_", " ").capitalize()) for column in place),
            *(Heading(text=text, is_number=True) if isinstance(text, str) else text for text in results),
        ),
        rows=rows,
    )


def to_csv(table: Table) -> bytes:
    """Comma-separated UTF-8 with a header, LF line ends, empty cells for null, and floats in full precision.

    A text that a spreadsheet would run as a formula (it begins with = + - @, a tab or a line's end) gets an apostrophe
    in front, since a system's name is free text of the user's.
    """
    texts = [name for name, dtype in table.data.schema.items() if dtype == pl.String]
    guarded = table.data.with_columns(
        pl.when(pl.col(name).str.contains(_FORMULA_START)).then("'" + pl.col(name)).otherwise(pl.col(name)).alias(name)
        for name in texts
    )
    return guarded.write_csv().encode()


def to_markdown(table: Table) -> bytes:
    """A GitHub-flavoured table under its caption."""
    head = [markdown_escaped(heading.text) for heading in table.headings]
    rule = ["---:" if heading.is_number else "---" for heading in table.headings]
    rows = [[markdown_escaped(cell) for cell in row] for row in table.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
    return ("\n".join([markdown_escaped(table.caption), "", *lines]) + "\n").encode()


def markdown_escaped(text: str) -> str:
    r"""Plain text as it can stand in a Markdown cell.

    >>> markdown_escaped("a|b_c*"), markdown_escaped("[0.1, 0.2]"), markdown_escaped("[a]")
    ('a\\|b_c\\*', '[0.1, 0.2]', '\\[a\\]')
    """
    marked = _MARKDOWN_MARKS.sub(lambda mark: mark["interval"] or "\\" + mark[0], " ".join(text.split()))
    return _OUTER_UNDERSCORE.sub(r"\\_", marked)


def count_text(count: int) -> str:
    """A count with grouped thousands: 3,600."""
    return f"{count:,}"


def share_text(numerator: int, denominator: int) -> str:
    """A count of so many: 13/1,000."""
    return f"{count_text(numerator)}/{count_text(denominator)}"


def decimal_text(value: Fraction, places: int) -> str:
    """The exact value rounded to so many places, ties to even, as every number of a table is.

    >>> decimal_text(Fraction(1, 8), 2), decimal_text(Fraction(-1, 3000), 2)
    ('0.12', '0.00')
    """
    scaled = Decimal(round(value * 10**places)).scaleb(-places)
    # A small negative value would print as -0.0.
    return f"{scaled or abs(scaled):.{places}f}"


def rate_text(numerator: int, denominator: int) -> str:
    """A rate with its numerator and denominator: 703/1,000 = 0.703."""
    return f"{share_text(numerator, denominator)} = {decimal_text(Fraction(numerator, denominator), 3)}"


def interval_text(low: float | None, high: float | None, *, places: int, scale: int = 1) -> str:
    """The two ends of an interval, times `scale` (100 turns a difference of rates into points): [0.674, 0.731]."""
    if low is None or high is None:
        return "[no interval]"
    return f"[{', '.join(decimal_text(Fraction(end) * scale, places) for end in (low, high))}]"


def points_text(share: Fraction) -> str:
    """A difference of rates in percentage points: 28.1."""
    return decimal_text(100 * share, 1)


def points_interval_text(share: Fraction, low: float | None, high: float | None) -> str:
    """A difference of rates with the two ends of its interval, all three in percentage points: 7.5 [5.8, 9.3]."""
    return f"{points_text(share)} {interval_text(low, high, places=1, scale=100)}"


def quarter_text(value: Fraction) -> str:
    """A multiple of a quarter, as quartiles of whole numbers are, exactly; ValueError for any other value.

    >>> quarter_text(Fraction(1002)), quarter_text(Fraction(5, 4))
    ('1,002', '1.25')
    """
    quarters = 4 * value
    if quarters.denominator != 1:
        raise ValueError(f"{value} is no multiple of a quarter")
    return f"{Decimal(quarters.numerator) / 4:,f}"


def p_text(p_value: float | None) -> str:
    """A p-value with three decimals, more where they would put it on the other side of .05, or two significant digits.

    >>> p_text(0.0312), p_text(0.04996), p_text(3.19e-65), p_text(0.0)
    ('0.031', '0.04996', '3.2e-65', '< 1e-300')
    """
    if p_value is None:
        return ABSENT
    if p_value < 1e-300:
        return "< 1e-300"
    if p_value < 0.001:
        return f"{p_value:.1e}"
    printed = (f"{p_value:.{places}f}" for places in range(3, 20))
    return next(text for text in printed if (float(text) < ALPHA) == (p_value < ALPHA))
