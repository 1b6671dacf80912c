"""The rows of `samequantity models list`."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from samequantity.models.opening import open_source
from samequantity.models.pins import ModelName, ModelPin, Sha256


class Presence(StrEnum):
    """Whether a file is in the models folder, by its size; only `verify` reads it whole."""

    HERE = "here"
    ABSENT = "absent"
    WRONG_SIZE = "wrong size"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One file of one model."""

    model: ModelName
    file: str
    size: int | None
    sha256: Sha256 | None
    licence: str
    sources: tuple[str, ...]
    presence: Presence


def model_rows(pins: Iterable[ModelPin], folder: Path) -> list[ModelRow]:
    """A row for each file of each model, in the order of the models file. Nothing is hashed or asked over a network."""
    return [
        ModelRow(
            model=pin.name,
            file=file.name,
            size=file.size,
            sha256=file.sha256,
            licence=pin.licence,
            sources=tuple(source.describe() for source in filter(None, map(open_source, file.sources))),
            presence=_presence(folder / file.name, file.size),
        )
        for pin in pins
        for file in pin.files
    ]


def _presence(path: Path, size: int | None) -> Presence:
    if not path.exists():
        return Presence.ABSENT
    return Presence.HERE if size is None or path.stat().st_size == size else Presence.WRONG_SIZE
