"""Views and responses as somebody else's tool writes them, and the commands that read them."""

import json
from pathlib import Path
from typing import Any

import polars as pl

VIEWS = [
    {"view_id": "a-0001/canonical", "dimension": "volume", "canonical_unit": "liters", "expected": "37/4"},
    {"view_id": "a-0001/fraction", "dimension": "volume", "canonical_unit": "liters", "expected": "37/4"},
    {"view_id": "own name", "dimension": "speed", "canonical_unit": "km/h", "expected": "-12"},
]
RESPONSES = [
    {"view_id": "a-0001/fraction", "text": "final: 9.25 L", "finish_reason": "stop"},
    {"view_id": "own name", "text": "FINAL: -12 km/h\u2028", "finish_reason": "length"},
    {"view_id": "a-0001/canonical", "text": "FINAL: 9250 mL", "finish_reason": "stop"},
]
PARSE = ("parse", "--views", "views.jsonl", "--responses", "smol.jsonl", "--out", "answers.jsonl")
AUDIT = ("audit", *PARSE[1:5], "--answers", "answers.jsonl", "--out", "audits.jsonl")


def write(path: str, rows: list[dict[str, Any]]) -> None:
    """A table as another tool writes it."""
    if path.endswith(".parquet"):
        pl.DataFrame(rows).write_parquet(path)
    else:
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def rows(path: str) -> list[dict[str, Any]]:
    if path.endswith(".parquet"):
        return pl.read_parquet(path).rows(named=True)
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").split("\n")[:-1]]
