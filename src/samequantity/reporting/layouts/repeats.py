"""Prompts that were asked twice: how often the same came back, and every pair of responses that differs."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, takewhile

import polars as pl

from samequantity.domain.answers import TAG_LINE_ANY_CASE, last_final_line
from samequantity.domain.rationals import as_decimal, decimal_places
from samequantity.reporting import captions
from samequantity.reporting.layouts.entries import COUNT, TEXT, refuse_unfit
from samequantity.reporting.results import Results, Row
from samequantity.reporting.tabular import Heading, Table, assembled, count_text, share_text
from samequantity.scoring.columns import REPEATS

WIDTH = 60
"""Characters of a text that a cell shows."""

IDENTICAL = {"text": "byte_identical", "reasoning": "reasoning_identical", "answer": "answer_identical"}
"""What of a pair may differ, and the column that says whether it does not."""


def repeat_check(frame: pl.DataFrame, results: Results) -> Table:
    """The concatenated results of `repeat`, counted: one row a system, and one for each other that it is held against.

    Raises TableError when columns or values are missing, a row is repeated, or a system is not of the study.
    """
    pairs = [(place, list(rows)) for place, rows in groupby(_ordered(frame, results), key=_owners)]
    counted: list[Row] = [
        {"system": owners.system, "again": owners.again, "prompts": len(rows)}
        | {column: sum(row[column] for row in rows) for column in IDENTICAL.values()}
        for owners, rows in pairs
    ]
    return assembled(
        name="repeat_check",
        caption=captions.repeat_check(results, {owners.system for owners, _ in pairs}),
        place=["system", "again"],
        results=["Prompts", *(column.replace("_", "-").capitalize() for column in IDENTICAL.values())],
        rows=[
            [row["system"], row["again"], count_text(row["prompts"])]
            + [share_text(row[column], row["prompts"]) for column in IDENTICAL.values()]
            for row in counted
        ],
        data=counted,
        schema={"prompts": COUNT} | dict.fromkeys(IDENTICAL.values(), COUNT),
    )


def repeat_differences(frame: pl.DataFrame, results: Results) -> Table:
    """Every pair that differs in anything; errors as for `repeat_check`. The data have the texts whole."""
    differing = [
        row | {"differs_in": ", ".join(name for name, column in IDENTICAL.items() if not row[column])}
        for row in map(dict, _ordered(frame, results))
        if not all(row[column] for column in IDENTICAL.values())
    ]
    headings = ("Differs in", "First text", "Second text", "First answer", "Second answer")
    return assembled(
        name="repeat_differences",
        caption=captions.repeat_differences(),
        place=["system", "again", "view_id"],
        results=[Heading(text=text) for text in headings],
        rows=[_cells(row) for row in differing],
        data=differing,
        schema={"differs_in": TEXT} | {name: kind for name, kind in REPEATS.items() if name not in _PLACE},
    )


_PLACE = ("system", "again", "view_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owners:
    """Whose first and whose second responses a row is about."""

    system: str
    again: str


def _owners(row: Row) -> _Owners:
    return _Owners(system=row["system"], again=row["again"])


def _ordered(frame: pl.DataFrame, results: Results) -> list[Row]:
    """The rows: by system as the study shows them, each with itself first, then by the views' order."""
    refuse_unfit(
        frame,
        results,
        name="repeats",
        command="repeat",
        columns=REPEATS.names(),
        nullable={"value", "value_again"},
        place=_PLACE,
    )
    study = (*results.systems, *results.absent)
    return sorted(frame.select(REPEATS.names()).rows(named=True), key=lambda row: _place(row, study))


def _place(row: Row, study: tuple[str, ...]) -> tuple[object, ...]:
    return (study.index(row["system"]), row["again"] != row["system"], row["again"], row["order"], row["view_id"])


def _cells(row: Row) -> list[str]:
    return [
        *(row[name] for name in _PLACE),
        row["differs_in"],
        *excerpts(row["text"], row["text_again"]),
        *(_answer(row[f"value{end}"], row[f"status{end}"]) for end in ("", "_again")),
    ]


def _answer(value: str | None, status: str) -> str:
    """The value, as a decimal where it has a finite one; the failure code where there is no value."""
    if value is None:
        return status
    exact = Fraction(value)
    text = value if decimal_places(exact) is None else as_decimal(exact)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}…"


def excerpts(first: str, second: str) -> list[str]:
    r"""Of two texts what a cell can hold: their FINAL lines if these differ, else where they begin to differ.

    >>> excerpts("It is 33.79.\nFINAL: 33.79 km", "It is 33.7925.\nFINAL: 33.7925 km")
    ['…FINAL: 33.79 km', '…FINAL: 33.7925 km']
    """
    lines = [_final_line(text) for text in (first, second)]
    if None not in lines and lines[0] != lines[1]:
        shown, lead = [str(line) for line in lines], "…"
    else:
        shown, lead = [first, second], ""
    same = takewhile(lambda letters: letters[0] == letters[1], zip(*shown, strict=False))
    place = sum(1 for _ in same)
    return [_visible(_window(text, place, lead)) for text in shown]


def _final_line(text: str) -> str | None:
    line = last_final_line(text, TAG_LINE_ANY_CASE)
    return None if line is None else text[line.start - len("FINAL:") : line.start] + line.payload


def _window(text: str, place: int, lead: str) -> str:
    """At most `WIDTH` characters of a text, with `place` among the first of them."""
    if len(text) <= WIDTH:
        return lead + text
    start = max(0, min(place - WIDTH // 4, len(text) - WIDTH))
    end = start + WIDTH
    return f"{'…' if start else lead}{text[start:end]}{'…' if end < len(text) else ''}"


def _visible(text: str) -> str:
    r"""The text with what cannot be seen, as a line's end, written as \n."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)
