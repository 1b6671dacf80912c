"""Reading the figures of `resources/published.yaml`, in which every key is needed and no other is allowed."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any

from samequantity.domain.verdicts import Layer
from samequantity.domain.views import Family
from samequantity.errors import SettingsError
from samequantity.reporting.paper.publication import (
    Figure,
    Holds,
    MarkedCells,
    Paper,
    Published,
    Statement,
    Unit,
)
from samequantity.reporting.paper.reading import Entry, FigureEntry, pair, printed
from samequantity.scoring.measures import FAILURES, RATES, Measure


class Kind(StrEnum):
    """What a figure of the file is; the file itself explains each."""

    VALUES = "values"
    RANGE = "range"
    COUNTS = "counts"
    COUNT_RANGE = "count_range"
    PAIRS = "pairs"
    HYPOTHESIS = "hypothesis"
    LONGER_COMPLETIONS = "longer_completions"
    MARKED_CELLS = "marked_cells"


_KEYS: Mapping[Kind, Sequence[str]] = {
    Kind.VALUES: ("layer", "measure", "family", "published"),
    Kind.RANGE: ("layer", "measure", "family", "systems", "low", "high"),
    Kind.COUNTS: ("layer", "measures", "family", "magnitude", "items", "published"),
    Kind.COUNT_RANGE: ("layer", "measures", "family", "magnitude", "items", "systems", "low", "high"),
    Kind.PAIRS: ("layer", "measure", "family", "items", "published"),
    Kind.HYPOTHESIS: ("measure", "items", "systems"),
    Kind.LONGER_COMPLETIONS: ("family", "systems"),
    Kind.MARKED_CELLS: ("systems", "items", "cells"),
}
"""The keys of each kind, beside `kind` and `label`."""

_WITH_INTERVAL = (*RATES, Measure.FAMILY_GAP, Measure.ORBIT_GAP)
_COUNTED = (
    *(Measure(status.value) for status in FAILURES),
    Measure.RECOVERED,
    Measure.MAGNITUDE_DROP,
    Measure.LENGTH_FINISHED,
)
_OF_SOME = (Measure.FINISHED_CORRECTNESS,)
_HYPOTHESES = (Measure.H1, Measure.H2)


def read_published(content: Mapping[str, Any]) -> Published:
    """Read a parsed `resources/published.yaml`; of `other_figures` it only checks that each is a mapping.

    Raises SettingsError, which names the place, for an unknown or missing key, a word that the scores do not know, a
    system that the file does not list, or a malformed number.
    """
    whole = Entry.of(content, "published").closed("paper", "systems", "figures", "other_figures")
    paper = whole.entry("paper").closed("title", "arxiv", "year")
    named = whole.entry("systems")
    known = {name: named.text(name) for name in named.content}
    figures = whole.entry("figures")
    others = whole.entry("other_figures")
    for name in others.content:
        others.entry(name)
    return Published(
        paper=Paper(title=paper.text("title"), arxiv=paper.text("arxiv"), year=paper.whole("year")),
        systems=known,
        figures=tuple(_figure(figures.entry(name), name, tuple(known)) for name in figures.content),
    )


def _figure(raw: Entry, name: str, known: Sequence[str]) -> Figure | MarkedCells:
    if "kind" not in raw.content:
        raise SettingsError(f"{raw.where}: the key 'kind' is missing, which says what the others are.")
    kind = raw.choice("kind", Kind)
    content = raw.closed("kind", "label", *_KEYS[kind]).content
    return _READERS[kind](FigureEntry(content=content, where=raw.where, name=name, known=known))


def _values(entry: FigureEntry) -> Figure:
    measure = _measure(entry, _WITH_INTERVAL)
    unit = _unit(measure)
    return _of_scores(entry, unit, (measure,), entry.by_system("published", partial(printed, unit=unit)))


def _range(entry: FigureEntry) -> Figure:
    measure = _measure(entry, _WITH_INTERVAL)
    unit = _unit(measure)
    return _of_scores(entry, unit, (measure,), dict.fromkeys(entry.systems(), entry.between(unit)))


def _counts(entry: FigureEntry) -> Figure:
    statements = entry.by_system("published", partial(printed, unit=Unit.COUNT))
    return _of_scores(entry, Unit.COUNT, _added(entry), statements)


def _count_range(entry: FigureEntry) -> Figure:
    statements = dict.fromkeys(entry.systems(), entry.between(Unit.COUNT))
    return _of_scores(entry, Unit.COUNT, _added(entry), statements)


def _pairs(entry: FigureEntry) -> Figure:
    return _of_scores(entry, Unit.RATE, (_measure(entry, _OF_SOME),), entry.by_system("published", pair))


def _of_scores(
    entry: FigureEntry, unit: Unit, measures: Sequence[Measure], statements: Mapping[str, Statement]
) -> Figure:
    """A figure with the keys `layer` and `family`, and `items` and `magnitude` where its kind has them."""
    magnitude = entry.optional_whole("magnitude") if "magnitude" in entry.content else None
    if magnitude is not None and tuple(measures) != (Measure.MAGNITUDE_DROP,):
        raise SettingsError(f"{entry.place('magnitude')}: only {Measure.MAGNITUDE_DROP} alone is split by it")
    return Figure(
        name=entry.name,
        label=entry.label,
        unit=unit,
        layer=entry.layer(measures),
        measures=measures,
        family=entry.family(measures),
        statements=statements,
        magnitude=magnitude,
        items=entry.whole("items") if "items" in entry.content else None,
    )


def _hypothesis(entry: FigureEntry) -> Figure:
    measure = _measure(entry, _HYPOTHESES)
    return Figure(
        name=entry.name,
        label=entry.label,
        unit=Unit.POINTS if measure is Measure.H2 else Unit.TESTS,
        layer=Layer.STRICT,
        measures=(measure,),
        family=None,
        statements=dict.fromkeys(entry.systems(), Holds()),
        items=entry.whole("items"),
    )


def _longer_completions(entry: FigureEntry) -> Figure:
    return Figure(
        name=entry.name,
        label=entry.label,
        unit=Unit.TOKENS,
        layer=None,
        measures=(Measure.COMPLETION_TOKENS,),
        family=entry.choice("family", Family),
        statements=dict.fromkeys(entry.systems(), Holds()),
    )


def _marked_cells(entry: FigureEntry) -> MarkedCells:
    return MarkedCells(
        name=entry.name,
        label=entry.label,
        systems=entry.systems(),
        items=entry.whole("items"),
        cells=printed(entry.content["cells"], entry.place("cells"), Unit.COUNT),
    )


def _measure(entry: FigureEntry, allowed: Sequence[Measure]) -> Measure:
    """What a figure is about: one measure, of those of which its kind can speak."""
    found = entry.choice("measure", Measure)
    if found not in allowed:
        raise SettingsError(f"{entry.place('measure')}: {found} is not of this kind; there are {', '.join(allowed)}")
    return found


def _added(entry: FigureEntry) -> Sequence[Measure]:
    """The counts that are added up."""
    found = entry.choices("measures", Measure)
    if stray := [measure for measure in found if measure not in _COUNTED]:
        allowed = ", ".join(_COUNTED)
        raise SettingsError(f"{entry.place('measures')}: {stray[0]} is not of this kind; there are {allowed}")
    return found


def _unit(measure: Measure) -> Unit:
    return Unit.POINTS if measure.is_gap else Unit.RATE


_READERS: Mapping[Kind, Callable[[FigureEntry], Figure | MarkedCells]] = {
    Kind.VALUES: _values,
    Kind.RANGE: _range,
    Kind.COUNTS: _counts,
    Kind.COUNT_RANGE: _count_range,
    Kind.PAIRS: _pairs,
    Kind.HYPOTHESIS: _hypothesis,
    Kind.LONGER_COMPLETIONS: _longer_completions,
    Kind.MARKED_CELLS: _marked_cells,
}
