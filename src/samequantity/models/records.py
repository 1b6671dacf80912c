"""What the first fetch of a file that is not wholly pinned found, kept beside the file as `<file>.sha256`.

The first line is the one that `sha256sum --check` reads; the lines after it, which it takes for comments, give the
size and the commit. A record without them is one of a file that was found without them.

    5f2a9c…  tiny.gguf
    # bytes 1400
    # commit 0123…4567 of somebody/tiny
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from samequantity.errors import IntegrityError
from samequantity.models.pins import FilePin
from samequantity.models.source_pins import Sha256
from samequantity.store.files import write_whole

_RECORD = re.compile(
    r"""
    (?P<sha256> [0-9a-f]{64} ) [ ][ *] [^\n]+ \n
    (?: \#[ ]bytes[ ] (?P<size> [0-9]{1,15} ) \n )?
    (?: \#[ ]commit[ ] (?P<commit> [0-9a-f]{40} ) [ ]of[ ] (?P<repository> [^\s]+ ) \n )?
    """,
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubCommit:
    """A commit of a repository of the model hub."""

    repository: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A file as its first fetch found it."""

    sha256: Sha256
    size: int | None = None
    source: HubCommit | None = None

    def write(self, path: Path) -> None:
        """Keep the record of the model file `path` beside it."""
        lines = [f"{self.sha256}  {path.name}"]
        if self.size is not None:
            lines.append(f"# bytes {self.size}")
        if self.source is not None:
            lines.append(f"# commit {self.source.commit} of {self.source.repository}")
        write_whole(record_path(path), ("\n".join(lines) + "\n").encode())


def record_path(path: Path) -> Path:
    """Where the record of a model file is."""
    return path.with_name(f"{path.name}.sha256")


def read_record(path: Path) -> Record | None:
    """The record of the model file `path`; None when there is none, IntegrityError when it is no record."""
    place = record_path(path)
    try:
        found = _RECORD.fullmatch(place.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        found = None
    if found is None:
        raise IntegrityError(
            f"{place}: not the record of a model file. Delete it if the file beside it is to be trusted as it is."
        )
    return Record(
        sha256=Sha256(found["sha256"]),
        size=int(found["size"]) if found["size"] else None,
        source=HubCommit(repository=found["repository"], commit=found["commit"]) if found["commit"] else None,
    )


def held_to(file: FilePin, record: Record | None) -> FilePin:
    """The pin with the record's values for the empty ones; a pinned value is never replaced."""
    if record is None:
        return file
    # A size that was recorded beside another digest than the pinned one says nothing about the pinned file.
    size = record.size if file.sha256 in (None, record.sha256) else None
    return replace(file, sha256=file.sha256 or record.sha256, size=file.size if file.size is not None else size)
