"""Small results for tables to show, and the Markdown that tables are written in, read back."""

from collections.abc import Iterator, Mapping

import polars as pl

from samequantity.stages.bootstrap import bootstrap
from samequantity.stages.score import score
from studies import Orbits, study

Results = tuple[pl.DataFrame, pl.DataFrame]
Files = Mapping[str, bytes | pl.DataFrame]


def results(orbits: Orbits, *systems: str, draws: int = 50, with_responses: bool = True) -> Results:
    """Scores and intervals of systems that gave the same answers."""
    studies = [study(orbits, system) for system in systems]
    scores = [score(*(one.all_tables if with_responses else one.tables)) for one in studies]
    return pl.concat(scores), pl.concat([bootstrap(*one.tables, seed=1, draws=draws) for one in studies])


def together(*parts: Results) -> Results:
    """The results of several systems as one."""
    scores, intervals = zip(*parts, strict=True)
    return pl.concat(scores), pl.concat(intervals)


def frame(files: Files, name: str) -> pl.DataFrame:
    """The data of a table."""
    found = files[f"{name}.parquet"]
    assert isinstance(found, pl.DataFrame)
    return found


def page(files: Files, name: str, form: str = "md") -> str:
    """A table in one of its texts."""
    found = files[f"{name}.{form}"]
    assert isinstance(found, bytes)
    return found.decode()


def caption(markdown: str) -> str:
    """The plain text above a Markdown table."""
    return markdown.partition("\n")[0].replace("\\", "")


def headings(markdown: str) -> list[str]:
    """The plain text over the columns of a Markdown table."""
    return _cells(_lines(markdown)[0])


def cells(markdown: str) -> list[list[str]]:
    """The plain text of the rows of a Markdown table."""
    return [_cells(line) for line in _lines(markdown)[2:]]


def rows(markdown: str) -> Iterator[dict[str, str]]:
    """The rows of a Markdown table, by heading."""
    return (dict(zip(headings(markdown), row, strict=True)) for row in cells(markdown))


def row_of(markdown: str, *place: str) -> dict[str, str]:
    """The one row of a Markdown table that begins so."""
    (found,) = [row for row in rows(markdown) if tuple(row.values())[: len(place)] == place]
    return found


def _lines(markdown: str) -> list[str]:
    return [line for line in markdown.splitlines() if line.startswith("|")]


def _cells(line: str) -> list[str]:
    inner = line.removeprefix("|").removesuffix("|").replace(r"\|", "\0")
    return [cell.strip().replace("\\", "").replace("\0", "|") for cell in inner.split("|")]
