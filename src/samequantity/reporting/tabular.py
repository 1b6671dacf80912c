"""How a table becomes text: numbers rounded from exact values, CSV for programs, Markdown for readers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import polars as pl

ABSENT = "–"
"""A cell without a value in Markdown; in CSV such a cell is empty."""

_FORMULA_START = r"^[=+\-@\t\r]"
_MARKDOWN_MARKS = re.compile(r"[\\|*`\[\]<>&~#$]")
_OUTER_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One column of a table for readers; numbers are set to the right."""

    text: str
    is_number: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table in both of its forms.

    `data` is tidy, one observation a row, numbers as numbers. `rows` are for readers: one finished cell a heading.
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
    numbers: Sequence[str],
    rows: Sequence[Sequence[str]],
    data: Sequence[Mapping[str, object]],
    schema: Mapping[str, pl.DataType],
) -> Table:
    """A table whose first columns say where a row belongs, in both forms, and whose other columns are results."""
    columns: dict[str, pl.DataType] = {column: pl.String() for column in place if column not in schema} | dict(schema)
    return Table(
        name=name,
        caption=caption,
        data=pl.DataFrame([{column: row.get(column) for column in columns} for row in data], schema=columns),
        headings=(
            *(Heading(text=column.capitalize()) for column in place),
            *(Heading(text=text, is_number=True) for text in numbers),
        ),
        rows=rows,
    )


def to_csv(table: Table) -> bytes:
    """Comma-separated UTF-8 with a header, LF line ends, empty cells for null, and floats in full precision.

    A text that a spreadsheet would run as a formula (it begins with = + - @, a tab or a return) gets an apostrophe in
    front, since a system's name is free text of the user's.
    """
    texts = [name for name, dtype in table.data.schema.items() if dtype == pl.String]
    guarded = table.data.with_columns(
        pl.when(pl.col(name).str.contains(_FORMULA_START)).then("'" + pl.col(name)).otherwise(pl.col(name)).alias(name)
        for name in texts
    )
    return guarded.write_csv().encode()


def to_markdown(table: Table) -> bytes:
    """A GitHub-flavoured table under its caption."""
    head = [heading.text for heading in table.headings]
    rule = ["---:" if heading.is_number else "---" for heading in table.headings]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule, *table.rows)]
    return ("\n".join([table.caption, "", *lines]) + "\n").encode()


def escaped(text: str) -> str:
    r"""Free text as it can stand in a Markdown cell.

    >>> escaped("a|b_c*")
    'a\\|b_c\\*'
    """
    marked = _MARKDOWN_MARKS.sub(lambda mark: "\\" + mark[0], " ".join(text.split()))
    return _OUTER_UNDERSCORE.sub(r"\\_", marked)


def count_text(count: int) -> str:
    """A count with grouped thousands: 3,600."""
    return f"{count:,}"


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
    rate = decimal_text(Fraction(numerator, denominator), 3)
    return f"{count_text(numerator)}/{count_text(denominator)} = {rate}"


def interval_text(low: float | None, high: float | None, *, places: int, scale: int = 1) -> str:
    """The two ends of an interval, times `scale` (100 turns a difference of rates into points): [0.674, 0.731]."""
    if low is None or high is None:
        return "[no interval]"
    return f"[{', '.join(decimal_text(Fraction(end) * scale, places) for end in (low, high))}]"


def p_text(p_value: float | None) -> str:
    """A p-value with three decimals, or with two significant digits where three decimals would show too little.

    >>> p_text(0.0312), p_text(3.19e-65), p_text(0.0)
    ('0.031', '3.2e-65', '< 1e-300')
    """
    if p_value is None:
        return ABSENT
    if p_value < 1e-300:
        return "< 1e-300"
    return f"{p_value:.3f}" if p_value >= 0.001 else f"{p_value:.1e}"
