"""Small studies in which a test says what each view was worth: builders and a hypothesis strategy."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
from hypothesis import strategies as st

from samequantity.domain.verdicts import Status
from samequantity.domain.views import TRANSFORMATIONS, Family

SYSTEM = "toy"
RIGHT = "7/2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one view was worth in both layers; the values are set where the status has one."""

    strict: Status = Status.CORRECT
    audited: Status = Status.CORRECT
    strict_value: str | None = RIGHT
    audited_value: str | None = RIGHT


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
    """The three tables that scoring reads."""

    views: pl.DataFrame
    answers: pl.DataFrame
    audits: pl.DataFrame

    @property
    def tables(self) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """Views, answers, audits: the arguments of every stage, in order."""
        return self.views, self.answers, self.audits

    def shuffled(self, seed: int) -> "Study":
        """The same rows in other orders."""
        views, answers, audits = (
            table.sample(fraction=1, shuffle=True, seed=seed + place) for place, table in enumerate(self.tables)
        )
        return Study(views=views, answers=answers, audits=audits)


def study(orbits: Orbits, system: str = SYSTEM) -> Study:
    """The tables of a study with these answers."""
    views: list[dict[str, object]] = []
    answers: list[dict[str, object]] = []
    audits: list[dict[str, object]] = []
    for base, orbit in orbits.items():
        for family, given in orbit.items():
            view = f"{base}/{family}"
            views.append({"view_id": view, "base_id": base, "template": base.rpartition("-")[0], "family": str(family)})
            answers.append(
                {
                    "system": system,
                    "view_id": view,
                    "status": given.strict.value,
                    "value": given.strict_value,
                    "final_lines": 1,
                }
            )
            audits.append(
                {
                    "system": system,
                    "view_id": view,
                    "status": given.audited.value,
                    "value": given.audited_value,
                    "recovered": given.strict is not Status.CORRECT and given.audited is Status.CORRECT,
                    "rewrites": [],
                    "magnitude_k": None,
                }
            )
    return Study(
        views=pl.DataFrame(views),
        answers=pl.DataFrame(answers, schema_overrides={"value": pl.String()}),
        audits=pl.DataFrame(audits, schema_overrides={"value": pl.String(), "magnitude_k": pl.Int64()}),
    )


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


_ANSWERS = st.one_of(
    st.sampled_from([OK, OK, UNREAD, RECOVERED, answer("format_error", "value_error")]),
    st.builds(answer, st.just("value_error"), wrong=st.sampled_from(["35", "7/20"])),
)


@st.composite
def orbits(draw: st.DrawFn, max_bases: int = 6) -> dict[str, dict[Family, Answer]]:
    """A few bases of two templates, each with its canonical view and any of the others."""
    found = {}
    for number in range(1, draw(st.integers(1, max_bases)) + 1):
        template = draw(st.sampled_from(["a", "b"]))
        others = draw(st.lists(st.sampled_from(TRANSFORMATIONS), unique=True, max_size=3))
        found[f"{template}-{number:04d}"] = {family: draw(_ANSWERS) for family in [Family.CANONICAL, *others]}
    return found
