"""Where a model file can come from: what all sources are, and the local path; the others are in modules beside.

A source leaves the file in the workspace that it is given, under any name, and says what it is; whether that is the
wanted file is decided by the caller, once, for all sources.
"""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from samequantity.errors import ModelError
from samequantity.models.fetching.progress import Reporter
from samequantity.models.folder.reading import irregular, model_digest
from samequantity.models.folder.records import HubOrigin
from samequantity.models.pinning.pins import FilePin
from samequantity.models.pinning.source_pins import Sha256
from samequantity.models.sizes import size_text

SECONDS_TO_REACH = 4.8
"""How long a source may take to show that it is there: with what is around it, 5 s at most."""

_SPACE_TO_SPARE = 64 * 2**20
_ELSEWHERE = "samequantity models fetch NAME --folder FOLDER"


class SourceKind(StrEnum):
    """The kinds of sources; all sources of a kind are reached or missed together, the local path apart."""

    PATH = "path"
    HUB = "hub"
    PACKAGES = "packages"


class SourceUnavailable(Exception):  # noqa: N818 - an answer between modules, not an error that a user sees
    """This source does not have the file now; the next one is tried.

    `unreachable` means that nothing of this kind can be reached, so other files need not wait for it again.
    """

    def __init__(self, reason: str, *, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.unreachable = unreachable


@dataclass(frozen=True, slots=True, kw_only=True)
class Obtained:
    """A file as a source delivered it, hashed but not yet accepted."""

    path: Path
    size: int
    sha256: Sha256
    origin: str
    hub: HubOrigin | None = None


class Source(Protocol):
    """One place that may have the file."""

    @property
    def kind(self) -> SourceKind:
        """What kind of place."""

    def describe(self) -> str:
        """The place in a few words, for notices and errors."""

    def room(self, file: FilePin, workspace: Path) -> int | None:
        """The bytes that `obtain` would add to the workspace's disk; None when the file is surely not to be had here.

        Nothing is asked over a network. A size that is not known counts as nothing.
        """

    def obtain(self, file: FilePin, workspace: Path, reporter: Reporter) -> Obtained:
        """Leave the file in the workspace.

        Raises SourceUnavailable when it cannot be had from here, IntegrityError when what is here is known to be
        another file, ModelError when there is no room for it.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPath:
    """A file that is on this machine already."""

    path: Path

    @property
    def kind(self) -> SourceKind:
        return SourceKind.PATH

    def describe(self) -> str:
        return f"the path {self.path}"

    def room(self, file: FilePin, workspace: Path) -> int | None:  # noqa: ARG002 - a link needs none
        return 0 if self.path.is_file() else None

    def obtain(
        self,
        file: FilePin,  # noqa: ARG002 - a copy is a copy, whatever it should be
        workspace: Path,
        reporter: Reporter,  # noqa: ARG002 - a link is made in no time
    ) -> Obtained:
        if not self.path.is_file():
            raise SourceUnavailable(self._missing())
        return link(self.path, workspace)

    def _missing(self) -> str:
        try:
            kind = irregular(self.path)
        except OSError as error:
            return error.strerror or str(error)
        return f"not a regular file, but {kind}" if kind else "there is no such file"


def link(target: Path, workspace: Path) -> Obtained:
    """Hash a file that lies elsewhere and make a symbolic link to it.

    A link and not a copy: model files are up to 70 GB and often lie in a folder that a group shares, and since the
    whole file is hashed before each use, a target that changes is noticed. A reflink would need both on one file
    system, and a hard link would let a change pass as ours.
    """
    name = workspace / "link"
    name.unlink(missing_ok=True)
    try:
        digest = model_digest(target)
        name.symlink_to(target.absolute())
    except OSError as error:
        raise SourceUnavailable(f"{target}: {error.strerror}") from error
    return Obtained(path=name, size=target.stat().st_size, sha256=digest, origin=str(target))


def require_space(folder: Path, needed: int, files: Iterable[str], *, command: str = _ELSEWHERE) -> None:
    """Refuse to start a transfer that cannot end: `needed` bytes for the files and a reserve must be free there.

    Raises ModelError, with the command that fetches into another folder; the other sources need the room as much, so
    none of them is tried.
    """
    free = free_bytes(folder)
    if has_room(free, needed):
        return
    reserve = f"of which {size_text(_SPACE_TO_SPARE)} must stay free" if free > _SPACE_TO_SPARE else "and none to spare"
    raise ModelError(
        f"{folder}: {size_text(needed)} are needed there and {size_text(free)} are free, {reserve}, for "
        f"{', '.join(files)}. The transfer was not started.\n"
        f"Make room, or choose a models folder on another disk: {command}"
    )


def has_room(free: int, needed: int) -> bool:
    """Whether so many bytes fit, with a reserve; nothing always fits."""
    return not needed or free >= needed + _SPACE_TO_SPARE


def free_bytes(folder: Path) -> int:
    """What is free on the disk of a folder that may not be there yet."""
    return shutil.disk_usage(next(place for place in (folder, *folder.absolute().parents) if place.exists())).free
