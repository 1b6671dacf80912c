"""What `samequantity models list` shows. Nothing is hashed or asked over a network."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from samequantity.models.fetching.opening import open_source
from samequantity.models.fetching.sources import free_bytes, has_room
from samequantity.models.folder.records import held_to, read_record
from samequantity.models.pinning.pins import FilePin, ModelName, ModelPin, Provenance
from samequantity.models.pinning.source_pins import Sha256


class Presence(StrEnum):
    """Whether a file is in the models folder, by its size; only `verify` reads it whole."""

    HERE = "here"
    ABSENT = "absent"
    WRONG_SIZE = "wrong size"
    NOT_A_FILE = "not a regular file"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """One file of a model: its size and digest, pinned or else recorded here, and where it would come from."""

    file: str
    size: int | None
    sha256: Sha256 | None
    recorded: bool
    sources: tuple[str, ...]
    presence: Presence


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model, and the bytes that are free on the disk of the models folder."""

    model: ModelName
    licence: str
    provenance: Provenance
    pinned: bool
    publisher_is_open: bool
    files: tuple[FileRow, ...]
    free: int

    @property
    def size(self) -> int | None:
        """The bytes of all files; None when the size of one is not known."""
        return _total(self.files)

    @property
    def missing(self) -> int | None:
        """The bytes of the files that are not here; None when the size of one is not known."""
        return _total(file for file in self.files if file.presence is Presence.ABSENT)

    @property
    def has_room(self) -> bool | None:
        """Whether the files that are not here fit on the disk."""
        return None if self.missing is None else has_room(self.free, self.missing)

    @property
    def presence(self) -> str:
        """Whether the model is here, in a few words."""
        kinds = {file.presence for file in self.files}
        if len(kinds) == 1:
            return str(kinds.pop())
        here = sum(file.presence is Presence.HERE for file in self.files)
        return f"{here} of {len(self.files)} files here"

    def to_json(self) -> dict[str, object]:
        """The row for machines."""
        return {
            "model": self.model,
            "licence": self.licence,
            "repository": self.provenance.repository,
            "revision": self.provenance.revision,
            "checkpoint": None if self.provenance.checkpoint is None else asdict(self.provenance.checkpoint),
            "pinned": self.pinned,
            "bytes": self.size,
            "missing_bytes": self.missing,
            "free_bytes": self.free,
            "has_room": self.has_room,
            "files": [
                {
                    "file": file.file,
                    "bytes": file.size,
                    "sha256": file.sha256,
                    "recorded": file.recorded,
                    "sources": file.sources,
                    "presence": file.presence,
                }
                for file in self.files
            ],
        }


def model_rows(pins: Iterable[ModelPin], folder: Path) -> list[ModelRow]:
    """A row for each model, in the order of the models file."""
    free = free_bytes(folder)
    return [
        ModelRow(
            model=pin.name,
            licence=pin.licence,
            provenance=pin.provenance,
            pinned=pin.pinned,
            publisher_is_open=pin.publisher_is_open,
            files=tuple(_file(file, folder / file.name) for file in pin.files),
            free=free,
        )
        for pin in pins
    ]


def _file(file: FilePin, path: Path) -> FileRow:
    held = held_to(file, read_record(path))
    return FileRow(
        file=file.name,
        size=held.size,
        sha256=held.sha256,
        recorded=file.sha256 is None and held.sha256 is not None,
        sources=tuple(source.describe() for source in filter(None, map(open_source, file.sources))),
        presence=_presence(path, held.size),
    )


def _presence(path: Path, size: int | None) -> Presence:
    if not path.exists():
        return Presence.ABSENT
    if not path.is_file():
        return Presence.NOT_A_FILE
    return Presence.HERE if size is None or path.stat().st_size == size else Presence.WRONG_SIZE


def _total(files: Iterable[FileRow]) -> int | None:
    total = 0
    for file in files:
        if file.size is None:
            return None
        total += file.size
    return total
