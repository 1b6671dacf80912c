"""Scores and intervals of any number of systems, laid out for look-up by tables and figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import TableError
from samequantity.scoring.columns import INTERVALS, SCORES
from samequantity.scoring.measures import RATES, Measure

Row = Mapping[str, Any]
"""One row of the scores or of the intervals, by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a row of the scores and its interval are about; `family` and `template` are None where pooled."""

    system: str
    layer: Layer
    measure: Measure
    family: Family | None = None
    template: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The scores and intervals of a study.

    `systems` have results, in the order to show them; `absent` were asked for and have none.
    """

    systems: tuple[str, ...]
    absent: tuple[str, ...]
    scores: Mapping[Key, Row]
    intervals: Mapping[Key, Row]

    def templates(self, system: str) -> list[str]:
        """The templates of which the system answered a base, sorted."""
        return sorted({key.template for key in self.scores if key.system == system and key.template is not None})

    def keys(self, layer: Layer, measure: Measure, *, by_template: bool) -> Iterator[Key]:
        """The results of a measure that rest on at least one view: by system, then template, then family."""
        families = (None,) if measure is Measure.ORBIT_GAP else tuple(Family)
        for system in self.systems:
            for template in self.templates(system) if by_template else (None,):
                for family in families:
                    key = Key(system=system, layer=layer, measure=measure, family=family, template=template)
                    if key in self.scores and self.scores[key]["denominator"]:
                        yield key

    def absent_families(self) -> Iterator[str]:
        """One phrase for each system and family without a view, with the reason."""
        for key, row in self.scores.items():
            if key.measure is Measure.VIEW_CORRECTNESS and key.layer is Layer.STRICT and row["absent"] is not None:
                yield f"{key.system}, {key.family}: {row['absent']}"

    def dropped_bases(self) -> Iterator[tuple[str, int]]:
        """Each system with the number of its bases that were left out, where there are any."""
        for system in self.systems:
            dropped = next(row["dropped_bases"] for key, row in self.scores.items() if key.system == system)
            if dropped:
                yield system, dropped


def gather(scores: pl.DataFrame, intervals: pl.DataFrame, systems: Sequence[str] | None = None) -> Results:
    """Lay out concatenated scores and intervals; the order of their rows does not matter.

    `systems` names the study's systems in the order to show them; without it they are sorted by name.

    Raises TableError when columns are missing, a row is repeated, a system is not of the study, or the intervals were
    not made from the same answers as the scores.
    """
    scored = _by_key(scores, tuple(SCORES), "scores")
    covered = _by_key(intervals, tuple(INTERVALS), "intervals")
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
    )


def _by_key(frame: pl.DataFrame, columns: Sequence[str], name: str) -> dict[Key, Row]:
    absent = [column for column in columns if column not in frame.columns]
    if absent:
        command = "score" if name == "scores" else "bootstrap"
        raise TableError(f"{name}: column {', '.join(absent)} is missing. Make the table again: samequantity {command}")
    rows: dict[Key, Row] = {}
    for row in frame.select(columns).rows(named=True):
        key = _key(row, name)
        if key in rows:
            raise TableError(f"{name}: two rows for {_named(key)}. Pass each system's table once")
        rows[key] = row
    return rows


def _key(row: Row, name: str) -> Key:
    try:
        return Key(
            system=row["system"],
            layer=Layer(row["layer"]),
            measure=Measure(row["measure"]),
            family=None if row["family"] is None else Family(row["family"]),
            template=row["template"],
        )
    except ValueError as error:
        raise TableError(f"{name}: {error}. Make the table again with this version of samequantity") from error


def _refuse_misfits(scored: Mapping[Key, Row], covered: Mapping[Key, Row]) -> None:
    """Every rate and gap over a view has an interval, and that interval is about the same estimate."""
    wanted = {
        key: row["estimate"]
        for key, row in scored.items()
        if row["estimate"] is not None and (key.measure.is_gap or key.measure in RATES)
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
    parts = (key.system, key.layer, key.measure, key.family, key.template)
    return ", ".join(str(part) for part in parts if part is not None)
