"""Scores and intervals of any number of systems, laid out for look-up by tables and figures."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import Any

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.scoring.columns import INTERVALS, SCORES
from samequantity.scoring.counts import WHOLES
from samequantity.scoring.measures import Measure, ratios

Row = Mapping[str, Any]
"""One row of the scores or of the intervals, by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a row of the scores and its interval are about (see `SCORES`); None stands for all of them.

    Layer None is not both layers, but the response itself.
    """

    system: str
    layer: Layer | None
    measure: Measure
    family: Family | None = None
    template: str | None = None
    orbit_size: int | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strata:
    """What a table tells apart: templates, orbit sizes, both, or nothing, where all results are pooled.

    >>> both = Strata(by_template=True, by_size=True)
    >>> both.columns, both.suffix, both.phrase()
    (['template', 'orbit_size'], '_by_size_and_template', ' by template and orbit size')
    """

    by_template: bool = False
    by_size: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns of the scores that say which stratum a row is about."""
        return [*(["template"] if self.by_template else []), *(["orbit_size"] if self.by_size else [])]

    @property
    def suffix(self) -> str:
        """The end of a table's name, such as `_by_template`."""
        split = [*(["size"] if self.by_size else []), *(["template"] if self.by_template else [])]
        return f"_by_{'_and_'.join(split)}" if split else ""

    def phrase(self, *beside: str) -> str:
        """By what a table is split, besides what it is split by anyway: ` by view family and template`."""
        split = [*beside, *(column.replace("_", " ") for column in self.columns)]
        return f" by {' and '.join(split)}" if split else ""


POOLED = Strata()
BY_TEMPLATE = Strata(by_template=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The scores and intervals of a study.

    `systems` have results, in the order to show them; `absent` were asked for and have none. `parts` holds the rows
    that split a row by category, under that row's key, by category.
    """

    systems: tuple[str, ...]
    absent: tuple[str, ...]
    scores: Mapping[Key, Row]
    intervals: Mapping[Key, Row]
    parts: Mapping[Key, Mapping[str, Row]]

    def keys(self, layer: Layer | None, measure: Measure, strata: Strata = POOLED) -> Iterator[Key]:
        """The results of a measure that rest on at least one view: by system, then template, orbit size, family."""
        found = (
            key
            for key, row in self.scores.items()
            if (key.layer, key.measure) == (layer, measure)
            and (key.template is not None, key.orbit_size is not None) == (strata.by_template, strata.by_size)
            and key.category is None
            and row["denominator"]
        )
        yield from sorted(found, key=self._place)

    def categories(self, whole: Key) -> Mapping[str, Row]:
        """The rows that split a row by category, by that category."""
        return self.parts.get(whole, {})

    def _place(self, key: Key) -> tuple[object, ...]:
        family = -1 if key.family is None else list(Family).index(key.family)
        return (self.systems.index(key.system), key.template or "", key.orbit_size or 0, family)

    @property
    def absent_families(self) -> Mapping[Key, str]:
        """Why a system has no view of a family, by the key of the family's strict correctness."""
        asked = (key for key in self.scores if (key.layer, key.measure) == (Layer.STRICT, Measure.VIEW_CORRECTNESS))
        return {key: self.scores[key]["absent"] for key in asked if self.scores[key]["absent"] is not None}

    @property
    def dropped_bases(self) -> Mapping[str, int]:
        """How many bases of each system were left out."""
        dropped = {key.system: row["dropped_bases"] for key, row in self.scores.items()}
        return {system: dropped[system] for system in self.systems}


def gather(scores: pl.DataFrame, intervals: pl.DataFrame, systems: Sequence[str] | None = None) -> Results:
    """Lay out concatenated scores and intervals; the order of their rows does not matter.

    `systems` names the study's systems in the order to show them; without it they are sorted by name.

    Raises TableError when columns are missing, a row is repeated, missing or cannot be, a system is not of the study,
    or the intervals were not made from the same answers as the scores.
    """
    scored = _by_key(scores, tuple(SCORES), "scores")
    covered = _by_key(intervals, tuple(INTERVALS), "intervals")
    _refuse_gaps(scored)
    found = {key.system for key in scored}
    shown = sorted(found) if systems is None else list(systems)
    strange = sorted(found - set(shown))
    if strange:
        raise TableError(f"scores: {', '.join(strange)} is no system of this study. Name it there, or leave it out")
    _refuse_misfits(scored, covered)
    return Results(
        systems=tuple(system for system in shown if system in found),
        absent=tuple(system for system in shown if system not in found),
        scores=scored,
        intervals=covered,
        parts=_by_category(scored),
    )


def _by_category(scored: Mapping[Key, Row]) -> Mapping[Key, Mapping[str, Row]]:
    found = defaultdict[Key, dict[str, Row]](dict)
    for key, row in scored.items():
        if key.category is not None:
            found[replace(key, category=None)][key.category] = row
    return dict(found)


def _by_key(frame: pl.DataFrame, columns: Sequence[str], name: str) -> dict[Key, Row]:
    absent = [column for column in columns if column not in frame.columns]
    cure = f"Make the table again: samequantity {'score' if name == 'scores' else 'bootstrap'}"
    if absent:
        raise TableError(f"{name}: column {', '.join(absent)} is missing. {cure}")
    rows: dict[Key, Row] = {}
    for row in frame.select(columns).rows(named=True):
        key = _key(row, name)
        if strange := _strangeness(key, row, name):
            raise TableError(f"{name}: {strange} in the row for {_named(key)}. {cure}")
        if key in rows:
            raise TableError(f"{name}: two rows for {_named(key)}. Pass each system's table once")
        rows[key] = row
    return rows


def _key(row: Row, name: str) -> Key:
    try:
        return Key(
            system=row["system"],
            layer=None if row["layer"] is None else Layer(row["layer"]),
            measure=Measure(row["measure"]),
            family=None if row["family"] is None else Family(row["family"]),
            template=row["template"],
            orbit_size=row["orbit_size"],
            category=row.get("category"),
        )
    except ValueError as error:
        raise TableError(f"{name}: {error}. Make the table again with this version of samequantity") from error


def _strangeness(key: Key, row: Row, name: str) -> str | None:
    """What cannot be in a row that score or bootstrap wrote."""
    if key.system is None:
        return "no system"
    if name == "intervals":
        ends = [row[column] for column in ("low", "high") if row[column] is not None]
        return None if all(map(isfinite, ends)) else "an end that is no number"
    if row["denominator"] is None or (row["numerator"] is None) != (key.measure is Measure.COMPLETION_TOKENS):
        return "no count"
    if key.measure is not Measure.COMPLETION_TOKENS and row["estimate"] != _estimate(row):
        return "an estimate that is not its numerator over its denominator"
    if key.measure in (Measure.MAGNITUDE_DROP, Measure.FINAL_LINES) and not _is_whole(key.category):
        return f"category {key.category}"
    return None


def _estimate(row: Row) -> str | None:
    return str(Fraction(row["numerator"], row["denominator"])) if row["denominator"] else None


def _is_whole(category: str | None) -> bool:
    return category is None or category.removeprefix("-").isdecimal()


def _refuse_gaps(scored: Mapping[Key, Row]) -> None:
    """Every system has the rows that `score` always writes, those over all templates and sizes."""
    measured = [(layer, ratio.measure, ratio.family) for layer in Layer for ratio in ratios(layer)]
    measured += [(Layer.STRICT, measure, None) for measure in (Measure.H1, Measure.H2)]
    wanted = {
        Key(system=system, layer=layer, measure=measure, family=family)
        for system in {key.system for key in scored}
        for layer, measure, family in measured
    }
    # A family without a view has none of the counts by category.
    wanted |= {
        replace(key, layer=mark.layer, measure=mark.measure)
        for key, row in scored.items()
        if (key.layer, key.measure) == (Layer.STRICT, Measure.VIEW_CORRECTNESS) and row["denominator"]
        for mark in WHOLES
    }
    if missing := wanted - scored.keys():
        example = min(_named(key) for key in missing)
        raise TableError(
            f"scores: {len(missing)} rows are missing, for instance {example}. "
            "Make the table again with this version of samequantity: samequantity score"
        )


def _refuse_misfits(scored: Mapping[Key, Row], covered: Mapping[Key, Row]) -> None:
    """Every rate and gap over a view has an interval, and that interval is about the same estimate."""
    wanted = {
        key: row["estimate"] for key, row in scored.items() if row["estimate"] is not None and key.measure.has_interval
    }
    given = {key: row["estimate"] for key, row in covered.items()}
    misfits = [key for key in wanted.keys() | given.keys() if wanted.get(key) != given.get(key)]
    if misfits:
        example = min(_named(key) for key in misfits)
        raise TableError(
            f"intervals: {len(misfits)} do not belong to the scores, for instance {example}. "
            "Make both again from the same answers: samequantity score, samequantity bootstrap"
        )


def _named(key: Key) -> str:
    parts = (key.system, key.layer, key.measure, key.family, key.template, key.orbit_size, key.category)
    return ", ".join(str(part) for part in parts if part is not None)
