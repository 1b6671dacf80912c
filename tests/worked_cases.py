"""The worked cases of tests/data/answers.jsonl: one response a row, and what both canonicalizers make of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from samequantity.domain.answers import Question, Verdict
from samequantity.domain.units import unit_named

FILE = Path(__file__).parent / "data" / "answers.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one canonicalizer gives."""

    status: str
    value: Fraction | None
    final_lines: int

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        return cls(status=verdict.status, value=verdict.value, final_lines=verdict.final_lines)

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Self:
        value = None if row["value"] is None else Fraction(row["value"])
        return cls(status=row["status"], value=value, final_lines=row["final_lines"])


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedCase:
    """One row; the text of a large one is made when it is asked for."""

    id: str
    parts: list[list[Any]]
    finish_reason: str
    dimension: str
    unit: str
    expected: Fraction
    strict: Outcome
    audited: Outcome
    magnitude_k: int | None
    hazard: bool

    @property
    def text(self) -> str:
        return "".join(part * times for part, times in self.parts)

    @property
    def question(self) -> Question:
        return Question(unit=unit_named(self.unit), expected=self.expected)


def worked_cases() -> Iterator[WorkedCase]:
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield WorkedCase(
            id=row["id"],
            parts=row.get("text_parts") or [[row["text"], 1]],
            finish_reason=row["finish_reason"],
            dimension=row["dimension"],
            unit=row["canonical_unit"],
            expected=Fraction(row["expected"]),
            strict=Outcome.from_row(row["strict"]),
            audited=Outcome.from_row(row["audited"]),
            magnitude_k=row["magnitude_k"],
            hazard=row["hazard"],
        )
