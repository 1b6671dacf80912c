"""Small studies in which a test says what each view was worth: builders, a hypothesis strategy and a row finder."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
from hypothesis import strategies as st

from samequantity.domain.exchange import FinishReason
from samequantity.domain.rewriting import Rewrite
from samequantity.domain.verdicts import Status
from samequantity.domain.views import TRANSFORMATIONS, Family
from samequantity.stages.compare import Verdicts

SYSTEM = "toy"
RIGHT = "7/2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one view was worth in both layers, and how its response ended; values are set where the status has one."""

    strict: Status = Status.CORRECT
    audited: Status = Status.CORRECT
    strict_value: str | None = RIGHT
    audited_value: str | None = RIGHT
    strict_final_lines: int = 1
    audited_final_lines: int = 1
    rewrites: tuple[str, ...] = ()
    magnitude_k: int | None = None
    cut_off: FinishReason = FinishReason.LENGTH
    completion_tokens: int | None = None

    @property
    def finish_reason(self) -> FinishReason:
        """`stop`, or `cut_off` where the response was truncated."""
        return self.cut_off if self.strict is Status.TRUNCATION_ERROR else FinishReason.STOP

    @property
    def recovered(self) -> bool:
        return self.strict is not Status.CORRECT and self.audited is Status.CORRECT


def answer(strict: str, audited: str | None = None, wrong: str = "35") -> Answer:
    """An answer by its statuses; a value error has the value `wrong`."""
    values = {Status.CORRECT: RIGHT, Status.VALUE_ERROR: wrong}
    first = Status(strict)
    second = first if audited is None else Status(audited)
    return Answer(strict=first, audited=second, strict_value=values.get(first), audited_value=values.get(second))


OK = answer("correct")
UNREAD = answer("parse_error")
RECOVERED = answer("parse_error", "correct")

Orbits = Mapping[str, Mapping[Family, Answer]]
"""Answers by base and family; a base is named <template>-<number>."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """The tables that scoring reads."""

    views: pl.DataFrame
    answers: pl.DataFrame
    audits: pl.DataFrame
    responses: pl.DataFrame

    @property
    def tables(self) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """Views, answers, audits: the arguments of every stage, in order."""
        return self.views, self.answers, self.audits

    @property
    def all_tables(self) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """The same and the responses, which stage score may be given."""
        return *self.tables, self.responses

    @property
    def verdicts(self) -> Verdicts:
        """The answers and audits: what stage compare takes of a system."""
        return Verdicts(answers=self.answers, audits=self.audits)

    def shuffled(self, seed: int) -> "Study":
        """The same rows in other orders."""
        views, answers, audits, responses = (
            table.sample(fraction=1, shuffle=True, seed=seed + place) for place, table in enumerate(self.all_tables)
        )
        return Study(views=views, answers=answers, audits=audits, responses=responses)


def study(orbits: Orbits, system: str = SYSTEM) -> Study:
    """The tables of a study with these answers."""
    given = [(base, family, worth) for base, orbit in orbits.items() for family, worth in orbit.items()]
    return Study(
        views=pl.DataFrame(
            [
                {
                    "view_id": f"{base}/{family}",
                    "base_id": base,
                    "template": base.rpartition("-")[0],
                    "family": str(family),
                }
                for base, family, _ in given
            ]
        ),
        answers=pl.DataFrame(
            [
                {
                    "system": system,
                    "view_id": f"{base}/{family}",
                    "status": worth.strict.value,
                    "value": worth.strict_value,
                    "final_lines": worth.strict_final_lines,
                }
                for base, family, worth in given
            ],
            schema_overrides={"value": pl.String()},
        ),
        audits=pl.DataFrame(
            [
                {
                    "system": system,
                    "view_id": f"{base}/{family}",
                    "status": worth.audited.value,
                    "value": worth.audited_value,
                    "final_lines": worth.audited_final_lines,
                    "recovered": worth.recovered,
                    "rewrites": list(worth.rewrites),
                    "magnitude_k": worth.magnitude_k,
                }
                for base, family, worth in given
            ],
            schema_overrides={"value": pl.String(), "magnitude_k": pl.Int64(), "rewrites": pl.List(pl.String())},
        ),
        responses=pl.DataFrame(
            [
                {
                    "system": system,
                    "view_id": f"{base}/{family}",
                    "finish_reason": worth.finish_reason.value,
                    "completion_tokens": worth.completion_tokens,
                }
                for base, family, worth in given
            ],
            schema_overrides={"completion_tokens": pl.Int64()},
        ),
    )


Row = dict[str, Any]
"""A row of scores, intervals or comparisons by its columns."""

_PLACE = ("family", "template", "orbit_size", "category")


def rows_at(frame: pl.DataFrame, layer: str | None, measure: str, **place: str | int | None) -> pl.DataFrame:
    """The rows of a measure in scores, intervals or comparisons; what `place` does not name of `_PLACE` is null."""
    wanted = {"layer": layer, "measure": measure} | {column: None for column in _PLACE if column in frame.columns}
    return frame.filter(pl.col(column).eq_missing(pl.lit(value)) for column, value in (wanted | place).items())


def one_row(frame: pl.DataFrame, layer: str | None, measure: str, **place: str | int | None) -> Row:
    """The one row at such a place; ValueError when there is none, or another."""
    (row,) = rows_at(frame, layer, measure, **place).rows(named=True)
    return row


def pairs(family: Family, *, both: int, canonical_only: int, transformed_only: int, neither: int) -> Orbits:
    """Bases with a canonical and one transformed view, so many of each kind."""
    kinds = [(OK, OK)] * both + [(OK, UNREAD)] * canonical_only + [(UNREAD, OK)] * transformed_only
    kinds += [(UNREAD, UNREAD)] * neither
    return {
        f"a-{number:04d}": {Family.CANONICAL: first, family: second}
        for number, (first, second) in enumerate(kinds, start=1)
    }


def random_orbits(seed: int, bases: int, *, templates: int = 3) -> dict[str, dict[Family, Answer]]:
    """Bases of several templates with one to four views and every kind of outcome."""
    chance = random.Random(seed)
    kinds = [OK] * 8 + [UNREAD, RECOVERED, RECOVERED, answer("value_error"), answer("truncation_error")]
    return {
        f"t{number % templates}-{number:04d}": {
            family: chance.choice(kinds)
            for family in [Family.CANONICAL, *chance.sample(TRANSFORMATIONS, chance.randint(0, 3))]
        }
        for number in range(1, bases + 1)
    }


def with_details(orbits: Orbits, seed: int) -> dict[str, dict[Family, Answer]]:
    """The same verdicts on responses of random lengths, with random FINAL lines, rewrites and powers of ten."""
    chance = random.Random(seed)
    return {
        base: {
            family: replace(
                given,
                strict_final_lines=chance.randint(0, 2),
                rewrites=tuple(chance.sample(list(Rewrite), chance.randint(0, 2))),
                magnitude_k=chance.choice([None, -1, 1, 2]) if given.audited is Status.VALUE_ERROR else None,
                completion_tokens=chance.randint(5, 400),
            )
            for family, given in orbit.items()
        }
        for base, orbit in orbits.items()
    }


_ANSWERS = st.one_of(
    st.sampled_from([OK, OK, UNREAD, RECOVERED, answer("format_error", "value_error")]),
    st.builds(answer, st.just("value_error"), wrong=st.sampled_from(["35", "7/20"])),
)


@st.composite
def detailed_answers(draw: st.DrawFn) -> Answer:
    """An answer with all that is counted about one beside its outcome; what the response took may be unknown."""
    given = draw(_ANSWERS | st.just(answer("truncation_error")))
    return replace(
        given,
        strict_final_lines=draw(st.integers(0, 3)),
        audited_final_lines=draw(st.integers(0, 3)),
        rewrites=tuple(draw(st.lists(st.sampled_from([str(part) for part in Rewrite]), unique=True, max_size=3))),
        magnitude_k=draw(st.sampled_from([None, -12, -1, 1, 2])) if given.audited is Status.VALUE_ERROR else None,
        cut_off=draw(st.sampled_from([FinishReason.LENGTH, FinishReason.OTHER])),
        completion_tokens=draw(st.none() | st.integers(1, 9)),
    )


@st.composite
def orbits(
    draw: st.DrawFn, max_bases: int = 6, answers: st.SearchStrategy[Answer] = _ANSWERS
) -> dict[str, dict[Family, Answer]]:
    """A few bases of two templates, each with its canonical view and any of the others."""
    found = {}
    for number in range(1, draw(st.integers(1, max_bases)) + 1):
        template = draw(st.sampled_from(["a", "b"]))
        others = draw(st.lists(st.sampled_from(TRANSFORMATIONS), unique=True, max_size=3))
        found[f"{template}-{number:04d}"] = {family: draw(answers) for family in [Family.CANONICAL, *others]}
    return found
