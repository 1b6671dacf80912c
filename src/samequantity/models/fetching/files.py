"""Fetching model files: each from the first of its sources that has it, and none that is not the pinned one."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from samequantity.errors import IntegrityError, ModelError
from samequantity.models.fetching.commits import Commits
from samequantity.models.fetching.hub_api import hub_is_offline
from samequantity.models.fetching.opening import open_source
from samequantity.models.fetching.progress import Reporter
from samequantity.models.fetching.sources import (
    Obtained,
    Source,
    SourceKind,
    SourceUnavailable,
    require_space,
)
from samequantity.models.fetching.workspace import workspace
from samequantity.models.folder.receipts import FileReceipt, Receipt
from samequantity.models.folder.records import Record, held_to, record_for
from samequantity.models.folder.verification import fetch_command, said_by_record, verify_file, wanted
from samequantity.models.pinning.pins import FilePin, ModelPin
from samequantity.models.pinning.source_pins import HubPin, PathPin
from samequantity.models.sizes import exact_size, size_text
from samequantity.store.files import sync


def fetch_models(
    pins: Sequence[ModelPin], folder: Path, *, reporter: Reporter, offline: bool = False
) -> tuple[Receipt, ...]:
    """Put the models' files into the folder, each from the first of its sources that has it.

    A file that is there already is hashed and left alone. The folder has the right file or none at any moment,
    however the fetch ends; an interrupted one leaves `<file>.part` at most. Before the first transfer there must be
    room for all that is missing. Offline, only the folder, local paths and the hub's cache are used.

    Raises IntegrityError for a file that is not the pinned one (a file already there is never overwritten), and
    ModelError when no source has a file or there is no room for them.
    """
    missing = [(pin, file) for pin in pins for file in pin.files if not (folder / file.name).exists()]
    far = any(not isinstance(source, PathPin) for _, file in missing for source in file.sources)
    offline = offline or (far and hub_is_offline())
    commits = Commits(folder=folder, reporter=reporter, offline=offline)
    one = _Fetch(folder=folder, reporter=reporter, offline=offline, commits=commits)
    one.require_room(missing)
    return tuple(Receipt(model=pin.name, files=tuple(one.file(pin, file) for file in pin.files)) for pin in pins)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetch:
    """One fetch of some models: where to, and which kinds of sources it has found out of reach."""

    folder: Path
    reporter: Reporter
    offline: bool
    commits: Commits
    unreachable: dict[SourceKind, str] = field(default_factory=dict)

    def require_room(self, missing: Sequence[tuple[ModelPin, FilePin]]) -> None:
        """Raise ModelError when the files that are missing do not fit on the folder's disk."""
        require_space(
            self.folder,
            sum(self._room(pin, file) for pin, file in missing),
            [file.name for _, file in missing],
            command=fetch_command(Path("FOLDER"), *dict.fromkeys(pin.name for pin, _ in missing)),
        )

    def file(self, pin: ModelPin, file: FilePin) -> FileReceipt:
        """Have one file in the folder."""
        path = self.folder / file.name
        # Before the lock, so that a folder that may only be read serves as well.
        if path.exists():
            return self._already_here(pin, file, path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with workspace(self.folder, file.name, self.reporter) as place:
                if path.exists():
                    return self._already_here(pin, file, path)
                return self._keep(self._from_first_source(pin, file, place), pin, file, path)
        except OSError as error:
            raise ModelError(
                f"{path}: the file cannot be put there ({error.strerror or error}). Make room or give the folder to "
                f"this user, or choose another folder; then run: {fetch_command(self.folder, pin.name)}"
            ) from error

    def _held(self, file: FilePin) -> FilePin:
        """What a file must be that is put into the folder."""
        return held_to(file, record_for(self.folder / file.name, file))

    def _room(self, pin: ModelPin, file: FilePin) -> int:
        """The bytes that a missing file will take; what nobody knows counts as nothing."""
        held, place = self._held(file), self.folder / f"{file.name}.part"
        for source_pin in file.sources:
            source = open_source(source_pin, offline=self.offline)
            if source is None or source.kind in self.unreachable:
                continue
            try:
                settled = self.commits.settled(pin, source_pin)
                source = open_source(settled, offline=self.offline) or source
                if isinstance(settled, HubPin) and held.size is None:
                    held = replace(held, size=self.commits.size(settled))
            except SourceUnavailable as error:
                if error.unreachable:
                    self._missed(file, source, error)
                continue
            room = source.room(held, place)
            if room is not None:
                return room
        return 0

    def _missed(self, file: FilePin, source: Source, error: SourceUnavailable) -> str:
        """Tell that a source does not have the file, and give the reason."""
        reason = f"{source.describe()}: {error}"
        self.reporter.line(f"{file.name}: not from {reason}")
        if error.unreachable:
            self.unreachable[source.kind] = str(error)
        return reason

    def _already_here(self, pin: ModelPin, file: FilePin, path: Path) -> FileReceipt:
        receipt = verify_file(path, file, model=pin.name)
        self.reporter.line(f"{file.name}: already here, SHA-256 {receipt.sha256}")
        if file.sha256 is None and record_for(path, file) is None:
            try:
                self._record(Record(sha256=receipt.sha256, size=receipt.size), pin, path)
            except OSError as error:
                self.reporter.line(f"{file.name}: no digest is pinned, and none can be recorded ({error.strerror})")
        return receipt

    def _from_first_source(self, pin: ModelPin, file: FilePin, place: Path) -> Obtained:
        held = self._held(file)
        reasons: list[str] = []
        for source_pin in file.sources:
            source = open_source(source_pin, offline=self.offline)
            if source is None:
                continue
            if source.kind in self.unreachable:
                reasons.append(f"{source.describe()}: {self.unreachable[source.kind]}")
                continue
            try:
                source = open_source(self.commits.settled(pin, source_pin), offline=self.offline) or source
                return source.obtain(held, place, self.reporter)
            except SourceUnavailable as error:
                reasons.append(self._missed(file, source, error))
        path = self.folder / file.name
        listed = "".join(f"\n  {reason}" for reason in reasons) or "\n  (none is configured)"
        raise ModelError(
            f"{path}: no source of the model {pin.name} has this file:{listed}\n"
            f"Connect this machine to one of them, or set `path:` in {pin.defined_in} to a copy of the file, "
            f"or put a copy at {path}; then run: {fetch_command(self.folder, pin.name)}"
        )

    def _keep(self, obtained: Obtained, pin: ModelPin, file: FilePin, path: Path) -> FileReceipt:
        """Accept what a source delivered and rename it into place; drop it when it is not the pinned file."""
        record = record_for(path, file)
        held = held_to(file, record)
        if held.sha256 not in (None, obtained.sha256) or held.size not in (None, obtained.size):
            obtained.path.unlink()
            raise IntegrityError(
                f"{file.name}: what {obtained.origin} has is SHA-256 {obtained.sha256} ({exact_size(obtained.size)}); "
                f"wanted {wanted(held)} for the model {pin.name}{said_by_record(path, file, held)}.\n"
                f"It is not used. Fetch again, and if it stays so, take that source out of {pin.defined_in}, "
                f"or correct the pin there or what was recorded."
            )
        before = record.source if record is not None and record.sha256 == obtained.sha256 else None
        found = Record(sha256=obtained.sha256, size=obtained.size, source=obtained.hub or before)
        if not file.pinned and found != record:
            self._record(found, pin, path)
        obtained.path.replace(path)
        sync(path.parent)
        self.reporter.line(f"{file.name}: {size_text(obtained.size)} from {obtained.origin}, SHA-256 {obtained.sha256}")
        return FileReceipt(file=file.name, size=obtained.size, sha256=obtained.sha256)

    def _record(self, found: Record, pin: ModelPin, path: Path) -> None:
        found.write(path)
        source = found.source
        origin = f", {source.file} of {source.repository} at commit {source.commit}," if source else ""
        self.reporter.line(
            f"{path.name}: not wholly pinned; SHA-256 {found.sha256} ({exact_size(found.size)}){origin} is recorded "
            f"beside it and nothing else is accepted from now on. To pin it: samequantity models lock {pin.name}"
        )
