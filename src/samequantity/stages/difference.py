"""What a changed parser changed: outcomes of two tables of answers to the same views, old → new."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

from samequantity.domain.verdicts import Status
from samequantity.domain.views import BaseId, Family, split_view_id
from samequantity.errors import TableError
from samequantity.messages import counted, some

COLUMNS = ("system", "view_id", "status", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """Responses of one system that went from one outcome to another; equal statuses: only the value moved."""

    system: str
    old: Status
    new: Status
    views: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """A rate that moved: numerators over one denominator, before and after."""

    system: str
    measure: str
    old: int
    new: int
    denominator: int

    @property
    def change(self) -> Fraction:
        """New rate − old rate."""
        return Fraction(self.new - self.old, self.denominator)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All that differs between two tables of answers, of which `compared` rows were compared."""

    compared: int
    transitions: tuple[Transition, ...]
    movements: tuple[Movement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    status: Status
    value: str | None


_Answers = Mapping[tuple[str, str], _Answer]


def difference(old: pl.DataFrame, new: pl.DataFrame) -> Difference:
    """Compare two tables of answers (or of audits), which need `COLUMNS`.

    TableError when a response is only in one of them, is there twice, or has an unknown status.
    """
    before, after = _answers(old, "old"), _answers(new, "new")
    for name, extra in (("old", before.keys() - after.keys()), ("new", after.keys() - before.keys())):
        if extra:
            views = sorted(f"{system}: {view}" for system, view in extra)
            raise TableError(f"only the {name} table holds {counted(views, 'answer')}: {some(views)}")
    moved: defaultdict[tuple[str, Status, Status], list[str]] = defaultdict(list)
    for (system, view), answer in before.items():
        if answer != after[system, view]:
            moved[system, answer.status, after[system, view].status].append(view)
    transitions = (
        Transition(system=system, old=status, new=changed, views=tuple(views))
        for (system, status, changed), views in sorted(moved.items(), key=lambda item: (item[0][0], -len(item[1])))
    )
    return Difference(compared=len(before), transitions=tuple(transitions), movements=tuple(_movements(before, after)))


def _answers(table: pl.DataFrame, name: str) -> dict[tuple[str, str], _Answer]:
    answers: dict[tuple[str, str], _Answer] = {}
    for system, view, status, value in table.select(COLUMNS).iter_rows():
        if (system, view) in answers:
            raise TableError(f"the {name} table answers {view} of {system} more than once")
        if status not in set(Status):
            raise TableError(f"the {name} table gives {view} the status {status!r}; there are {', '.join(Status)}")
        answers[system, view] = _Answer(status=Status(status), value=value)
    return answers


def _movements(before: _Answers, after: _Answers) -> Iterator[Movement]:
    """The rates that differ: correctness by family, and the orbit rates where the views are named as ours are."""
    old, new = _counts(before), _counts(after)
    for key, (numerator, denominator) in old.items():
        if new[key][0] != numerator:
            system, measure = key
            yield Movement(system=system, measure=measure, old=numerator, new=new[key][0], denominator=denominator)


def _counts(answers: _Answers) -> dict[tuple[str, str], tuple[int, int]]:
    """Numerator and denominator of each rate, by system and measure."""
    numerators: Counter[tuple[str, str]] = Counter()
    denominators: Counter[tuple[str, str]] = Counter()
    orbits: defaultdict[tuple[str, BaseId], list[_Answer]] = defaultdict(list)
    for (system, view), answer in answers.items():
        named = _named(view)
        for measure in ("correctness", f"correctness, {named[1]}") if named else ("correctness",):
            denominators[system, measure] += 1
            numerators[system, measure] += answer.status is Status.CORRECT
        if named:
            orbits[system, named[0]].append(answer)
    for (system, _), orbit in orbits.items():
        for measure, holds in (("orbit correctness", _correct(orbit)), ("orbit invariance", _invariant(orbit))):
            denominators[system, measure] += 1
            numerators[system, measure] += holds
    return {key: (numerators[key], denominators[key]) for key in sorted(denominators)}


def _named(view: str) -> tuple[BaseId, Family] | None:
    try:
        return split_view_id(view)
    except ValueError:
        return None


def _correct(orbit: Iterable[_Answer]) -> bool:
    return all(answer.status is Status.CORRECT for answer in orbit)


def _invariant(orbit: Iterable[_Answer]) -> bool:
    values = {answer.value if answer.status.has_value else None for answer in orbit}
    return len(values) == 1 and None not in values
