"""Filling the empty values of a models file: from the files that are here, else from what the hub says.

Nothing is downloaded. A value that is pinned is never changed; where a file or the hub says something else, that is
an error.
"""

import os
import shlex
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from samequantity.closed import load_yaml
from samequantity.errors import IntegrityError, ModelError, SettingsError
from samequantity.models.fetching.commits import Commits
from samequantity.models.fetching.hub_api import HubFile, hub_is_offline
from samequantity.models.fetching.progress import Reporter
from samequantity.models.fetching.sources import SourceUnavailable
from samequantity.models.folder.records import HubOrigin, held_to, record_for, record_path
from samequantity.models.folder.verification import verify_file, wanted
from samequantity.models.pinning.pins import FilePin, ModelPin, pins_of
from samequantity.models.pinning.scalars import Place, fill_nulls, written
from samequantity.models.pinning.source_pins import HubPin
from samequantity.models.sizes import exact_size
from samequantity.store.files import write_whole


def lock(
    pins: Sequence[ModelPin],
    models_file: Path,
    folder: Path,
    *,
    reporter: Reporter,
    offline: bool = False,
    dry_run: bool = False,
) -> Mapping[Place, str | int]:
    """Fill the empty values of the models in the models file; return which values went where.

    Raises IntegrityError, with nothing written, when a file or the hub disagrees with a pinned value, and ModelError
    when the values of a model cannot be had; those of the other models are written before. SettingsError for a models
    file that may not be written.
    """
    if not dry_run:
        _require_writable(models_file)
    before = models_file.read_bytes()
    commits = Commits(folder=folder, reporter=reporter, offline=offline or hub_is_offline())
    values: dict[Place, str | int] = {}
    missed: list[str] = []
    for pin in pins:
        try:
            values |= _Locking(pin=pin, folder=folder, commits=commits, reporter=reporter).values()
        except SourceUnavailable as error:
            missed.append(f"\n  {error}")
    if values:
        filled = fill_nulls(before.decode("utf-8"), values).encode("utf-8")
        pins_of(load_yaml(filled.decode("utf-8")), models_file)  # what is written can be read, or is not written
        for place, value in values.items():
            reporter.line(f"{written(place)}: {value}")
        if not dry_run:
            _replace(models_file, before, filled)
    if missed:
        raise ModelError(
            f"{models_file}: not every empty value can be found:{''.join(missed)}\n"
            f"Connect this machine to the hub, or fetch the model first; then run: samequantity models lock"
        )
    return values


def _replace(models_file: Path, before: bytes, filled: bytes) -> None:
    if models_file.read_bytes() != before:  # hashing took minutes, and the file is the user's
        raise SettingsError(f"{models_file}: the file was changed in the meantime; nothing was written. Run it again.")
    target = models_file.resolve()
    write_whole(target, filled, mode=stat.S_IMODE(target.stat().st_mode))


def _require_writable(models_file: Path) -> None:
    """Raise SettingsError for a file that is meant to stay as it is: the new one would take its place all the same."""
    mode = stat.S_IMODE(models_file.stat().st_mode)
    if mode & 0o222 and os.access(models_file, os.W_OK):
        return
    raise SettingsError(
        f"{models_file}: this user may not write it (mode {mode:03o}), so nothing can be filled in. Make it writable: "
        f"chmod u+w {shlex.quote(str(models_file))}\n"
        f"Or copy it and lock the copy: samequantity models lock --models-file COPY"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What is known of a file here: its pin with what was found, where that stands, where on the hub it is from."""

    file: FilePin
    where: str
    source: HubOrigin | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Locking:
    """The empty values of one model."""

    pin: ModelPin
    folder: Path
    commits: Commits
    reporter: Reporter
    found: dict[str, str] = field(default_factory=dict)
    """The commit of each repository that has the files."""

    def values(self) -> dict[Place, str | int]:
        values: dict[Place, str | int] = {}
        for index, file in enumerate(self.pin.files):
            if not file.pinned:
                values |= self._of_file(file, ("models", self.pin.name, "files", index))
        publisher = self.pin.provenance.repository
        commit = self.found.get(publisher) or self.pin.revision_of(publisher)
        if self.pin.publisher_is_open and commit is not None:
            values["models", self.pin.name, "provenance", "revision"] = commit
        return values

    def _of_file(self, file: FilePin, place: Place) -> dict[Place, str | int]:
        known = self._here(file)
        values: dict[Place, str | int] = {}
        for number, source in enumerate(file.sources):
            if not isinstance(source, HubPin):
                continue
            try:
                commit = self.commits.of(self.pin, source)
                files = self._listed(source, commit, known)
            except SourceUnavailable as error:
                if known is None:
                    raise SourceUnavailable(f"{self.pin.name}: {file.name}: {error}") from error
                undone = "its revision stays empty" if source.revision is None else "it was not asked about the file"
                self.reporter.line(f"{file.name}: {source.repository}: {undone}: {error}")
                continue
            if files is not None:
                known = self._agreed(
                    known, file, self._said(file, source, commit, files), f"{source.repository} at {commit}"
                )
            self.found[source.repository] = commit
            if source.revision is None:
                values[*place, "sources", number, "hub", "revision"] = commit
        if known is None:
            raise SourceUnavailable(f"{self.pin.name}: {file.name}: it is not here, and no hub is among its sources")
        found = {"bytes": (file.size, known.file.size), "sha256": (file.sha256, known.file.sha256)}
        for key, (pinned, value) in found.items():
            if pinned is None and value is not None:
                values[*place, key] = value
        return values

    def _here(self, file: FilePin) -> _Known | None:
        """What the file in the folder is, or, if it is gone, what its first fetch recorded."""
        path = self.folder / file.name
        record = record_for(path, file)
        held = held_to(file, record)
        if path.exists():
            found = verify_file(path, file, model=self.pin.name)
            held = FilePin(name=file.name, size=found.size, sha256=found.sha256, sources=file.sources)
        elif record is None or held.size is None or held.sha256 != record.sha256:
            return None
        source = record.source if record is not None and record.sha256 == held.sha256 else None
        return _Known(file=held, where=str(path if path.exists() else record_path(path)), source=source)

    def _listed(self, source: HubPin, commit: str, known: _Known | None) -> Mapping[str, HubFile] | None:
        """The files of the source's repository at the commit; None when the hub does not say and need not.

        It need not when the first fetch recorded that the file is this very one. Else raises SourceUnavailable.
        """
        try:
            return self.commits.snapshot(source.repository, commit).files
        except SourceUnavailable as error:
            origin = HubOrigin(repository=source.repository, commit=commit, file=source.file)
            if known is None or known.source != origin:
                raise
            self.reporter.line(
                f"{known.file.name}: {source.repository}: as the first fetch recorded it, and not compared: {error}"
            )
            return None

    def _said(self, file: FilePin, source: HubPin, commit: str, files: Mapping[str, HubFile]) -> HubFile:
        said = files.get(source.file)
        if said is None:
            raise SourceUnavailable(
                f"{self.pin.name}: {file.name}: {source.repository} has no file {source.file} at {commit}"
            )
        return said

    def _agreed(self, known: _Known | None, file: FilePin, said: HubFile, where: str) -> _Known:
        """What is known with what the hub says; IntegrityError when one of the two values differs."""
        before = known.file if known is not None else file
        for value, other in ((before.sha256, said.sha256), (before.size, said.size)):
            if value is not None and other is not None and value != other:
                origin = known.where if known is not None else f"pinned in {self.pin.defined_in}"
                raise IntegrityError(
                    f"{file.name}: {where} has SHA-256 {said.sha256 or 'unknown'} ({exact_size(said.size)}); "
                    f"{origin} is SHA-256 {wanted(before)}, model {self.pin.name}. Nothing was written. Write the "
                    f"revision and the file's name on the hub that are meant, correct what is pinned, or delete the "
                    f"file here."
                )
        if before.sha256 is None and said.sha256 is None:
            raise SourceUnavailable(f"{self.pin.name}: {file.name}: {where} gives no SHA-256 of it; fetch it first")
        held = FilePin(
            name=file.name,
            size=before.size if before.size is not None else said.size,
            sha256=before.sha256 or said.sha256,
            sources=file.sources,
        )
        if known is None:
            return _Known(file=held, where=where, source=None)
        return replace(known, file=held)
