"""What the first fetch of a file that is not wholly pinned found, kept beside the file as `<file>.sha256`.

The first line is the one that `sha256sum --check` reads; the lines after it, which it takes for comments, give the
size, the commit and the file's name on the hub. A record without them is one of a file that was found without them, and
one without the last of an earlier version.

    5f2a9c…  tiny.gguf
    # bytes 1400
    # commit 0123…4567 of somebody/tiny
    # file weights.gguf
"""

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from samequantity.errors import IntegrityError
from samequantity.models.folder.reading import irregular
from samequantity.models.pinning.pins import FilePin
from samequantity.models.pinning.source_pins import COMMIT_PATTERN, SHA256_PATTERN, Sha256
from samequantity.store.files import write_whole

_RECORD = re.compile(
    rf"""
    (?P<sha256> {SHA256_PATTERN.pattern} ) [ ][ *] (?P<name> [^\n]+ ) \n
    (?: \#[ ]bytes[ ] (?P<size> [0-9]{{1,15}} ) \n )?
    (?: \#[ ]commit[ ] (?P<commit> {COMMIT_PATTERN.pattern} ) [ ]of[ ] (?P<repository> [^\s]+ ) \n
        (?: \#[ ]file[ ] (?P<file> [^\n]+ ) \n )?
    )?
    """,
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubOrigin:
    """Where on the model hub a file was found: repository, commit and its name there (None: not recorded)."""

    repository: str
    commit: str
    file: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A file as its first fetch found it."""

    sha256: Sha256
    size: int | None = None
    source: HubOrigin | None = None

    def write(self, path: Path) -> None:
        """Keep the record of the model file `path` beside it."""
        lines = [f"{self.sha256}  {path.name}"]
        if self.size is not None:
            lines.append(f"# bytes {self.size}")
        if self.source is not None:
            lines.append(f"# commit {self.source.commit} of {self.source.repository}")
            if self.source.file is not None:
                lines.append(f"# file {self.source.file}")
        write_whole(record_path(path), ("\n".join(lines) + "\n").encode())


def record_path(path: Path) -> Path:
    """Where the record of a model file is."""
    return path.with_name(f"{path.name}.sha256")


def read_record(path: Path) -> Record | None:
    """The record of the model file `path`; None when there is none, IntegrityError when it is no record of it."""
    place = record_path(path)
    if kind := irregular(place):
        raise IntegrityError(
            f"{place}: {kind}; the record of a model file has that name. Move it away, and run the command again."
        )
    try:
        found = _RECORD.fullmatch(place.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        found = None
    # The file's name may have a folder before it, as in a list of digests that somebody made.
    if found is None or PurePath(found["name"]).name != path.name:
        wrong = "not the record of a model file" if found is None else f"the record of {found['name']}, by what it says"
        raise IntegrityError(
            f"{place}: {wrong}. A file of that name is held to be the record of {path.name}; move it away, or delete "
            f"it if {path.name} is to be trusted as it is."
        )
    origin = None
    if found["commit"]:
        origin = HubOrigin(repository=found["repository"], commit=found["commit"], file=found["file"])
    return Record(sha256=Sha256(found["sha256"]), size=int(found["size"]) if found["size"] else None, source=origin)


def record_for(path: Path, file: FilePin) -> Record | None:
    """The record of the model file `path`, which is to be the pinned one; None when there is none.

    Raises IntegrityError for no record, and for one of another file of the hub than the pin names: where no digest is
    pinned, its digest would pass for the digest of that file.
    """
    record = read_record(path)
    if record is None or record.source is None or record.source.file is None or file.sha256 is not None:
        return record
    found = record.source
    if not file.hubs or any((hub.repository, hub.file) == (found.repository, found.file) for hub in file.hubs):
        return record
    named = " or ".join(f"{hub.file} of {hub.repository}" for hub in file.hubs)
    here, there = shlex.quote(str(path)), shlex.quote(str(record_path(path)))
    raise IntegrityError(
        f"{path}: fetched as {found.file} of {found.repository}, says {record_path(path).name}, and the models file "
        f"names {named}. Delete both and fetch again: rm -f {here} {there}\n"
        f"If the two are the same file, delete the record alone: rm {there}"
    )


def held_to(file: FilePin, record: Record | None) -> FilePin:
    """The pin with the record's values for the empty ones; a pinned value is never replaced."""
    if record is None:
        return file
    # A size that was recorded beside another digest than the pinned one says nothing about the pinned file.
    size = record.size if file.sha256 in (None, record.sha256) else None
    return replace(file, sha256=file.sha256 or record.sha256, size=file.size if file.size is not None else size)
