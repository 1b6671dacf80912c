"""Fetching and verifying model files: nothing is used whose bytes are not the ones that the pin promises."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from samequantity.errors import IntegrityError, ModelError
from samequantity.models.opening import open_source
from samequantity.models.pins import MODELS_FOLDER, FilePin, ModelName, ModelPin, Sha256
from samequantity.models.progress import Reporter
from samequantity.models.receipts import FileReceipt, Receipt
from samequantity.models.sources import Obtained, SourceKind, SourceUnavailable
from samequantity.models.workspace import workspace
from samequantity.store.digests import file_digest
from samequantity.store.files import sync, write_whole


def fetch(pin: ModelPin, folder: Path, *, reporter: Reporter) -> Receipt:
    """Put the model's files into the folder, each from the first of its sources that has it.

    A file that is there already is hashed and left alone. The folder has the right file or none at any moment,
    however the fetch ends; an interrupted one leaves `<file>.part` at most.

    Raises IntegrityError for a file that is not the pinned one (a file already there is never overwritten), and
    ModelError when no source has a file or there is no room for it.
    """
    one = _Fetch(pin=pin, folder=folder, reporter=reporter)
    return Receipt(model=pin.name, files=tuple(map(one.file, pin.files)))


def verify(pin: ModelPin, folder: Path) -> Receipt:
    """Hash the model's files in the folder.

    Raises ModelError for a file that is missing, IntegrityError for one that is not the pinned one.
    """
    return Receipt(
        model=pin.name, files=tuple(verify_file(folder / file.name, file, model=pin.name) for file in pin.files)
    )


def verify_file(path: Path, file: FilePin, *, model: ModelName) -> FileReceipt:
    """Hash one whole file and compare it with its pin, or with the digest that the first fetch recorded.

    Raises ModelError when the file is missing or unreadable, IntegrityError when it is another one; the message says
    which file, which digest was wanted and found, and the command that gets the right one.
    """
    try:
        found, size = Sha256(file_digest(path)), path.stat().st_size
    except OSError as error:
        raise ModelError(
            f"{path}: the model file cannot be read ({error.strerror}). Get it: {_fetch_command(path, model)}"
        ) from error
    wanted = file.sha256 or recorded_digest(path)
    if (wanted is not None and found != wanted) or (file.size is not None and size != file.size):
        raise IntegrityError(
            f"{path}: SHA-256 {found} ({size} bytes); wanted {_wanted(file, wanted)} for the model {model}.\n"
            f"The file was changed or cut short, or is another model; it is not used. Delete it and get it again: "
            f"rm {shlex.quote(str(path))} && {_fetch_command(path, model)}"
        )
    return FileReceipt(file=file.name, size=size, sha256=found)


def recorded_digest(path: Path) -> Sha256 | None:
    """The digest of a file without a pin, as its first fetch recorded it beside the file; None when there is none."""
    try:
        return Sha256(_record_of(path).read_text(encoding="utf-8").split()[0])
    except (FileNotFoundError, IndexError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetch:
    """One fetch of one model: where to, and which kinds of sources it has found out of reach."""

    pin: ModelPin
    folder: Path
    reporter: Reporter
    unreachable: dict[SourceKind, str] = field(default_factory=dict)

    def file(self, file: FilePin) -> FileReceipt:
        """Have one file in the folder."""
        path = self.folder / file.name
        # Before the lock, so that a folder that may only be read serves as well.
        if path.exists():
            return self._already_here(path, file)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with workspace(self.folder, file.name, self.reporter) as place:
                if path.exists():
                    return self._already_here(path, file)
                return self._keep(self._from_first_source(file, place), path, file)
        except OSError as error:
            raise ModelError(
                f"{path}: the file cannot be put there ({error.strerror or error}). Make room or give the folder to "
                f"this user, or choose another folder; then run: {_fetch_command(path, self.pin.name)}"
            ) from error

    def _already_here(self, path: Path, file: FilePin) -> FileReceipt:
        receipt = verify_file(path, file, model=self.pin.name)
        self.reporter.line(f"{file.name}: already here, SHA-256 {receipt.sha256}")
        return receipt

    def _from_first_source(self, file: FilePin, place: Path) -> Obtained:
        reasons: list[str] = []
        for source in filter(None, map(open_source, file.sources)):
            if source.kind in self.unreachable:
                reasons.append(f"{source.describe()}: {self.unreachable[source.kind]}")
                continue
            try:
                return source.obtain(file, place, self.reporter)
            except SourceUnavailable as error:
                reasons.append(f"{source.describe()}: {error}")
                self.reporter.line(f"{file.name}: not from {reasons[-1]}")
                if error.unreachable:
                    self.unreachable[source.kind] = str(error)
        path = self.folder / file.name
        listed = "".join(f"\n  {reason}" for reason in reasons) or "\n  (none is configured)"
        raise ModelError(
            f"{path}: no source of the model {self.pin.name} has this file:{listed}\n"
            f"Connect this machine to one of them, or set `path:` in {self.pin.defined_in} to a copy of the file, "
            f"or put a copy at {path}; then run: {_fetch_command(path, self.pin.name)}"
        )

    def _keep(self, obtained: Obtained, path: Path, file: FilePin) -> FileReceipt:
        """Accept what a source delivered and rename it into place; drop it when it is not the pinned file."""
        wanted = file.sha256 or recorded_digest(path)
        if wanted not in (None, obtained.sha256) or file.size not in (None, obtained.size):
            obtained.path.unlink()
            raise IntegrityError(
                f"{file.name}: what {obtained.origin} has is SHA-256 {obtained.sha256} ({obtained.size} bytes); wanted "
                f"{_wanted(file, wanted)} for the model {self.pin.name}.\n"
                f"It is not used. Fetch again, and if it stays so, take that source out of {self.pin.defined_in}, "
                f"or correct the pin there."
            )
        if wanted is None:
            write_whole(_record_of(path), f"{obtained.sha256}  {file.name}\n".encode())
            self.reporter.line(
                f"{file.name}: no digest is pinned; SHA-256 {obtained.sha256} ({obtained.size} bytes) is recorded "
                f"beside it and nothing else is accepted from now on."
            )
        obtained.path.replace(path)
        sync(path.parent)
        self.reporter.line(
            f"{file.name}: {obtained.size / 1e6:.0f} MB from {obtained.origin}, SHA-256 {obtained.sha256}"
        )
        return FileReceipt(file=file.name, size=obtained.size, sha256=obtained.sha256)


def _wanted(file: FilePin, digest: Sha256 | None) -> str:
    size = "" if file.size is None else f" ({file.size} bytes)"
    return f"{digest or 'any'}{size}"


def _record_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _fetch_command(path: Path, model: ModelName) -> str:
    elsewhere = "" if path.parent.resolve() == MODELS_FOLDER.resolve() else f" --folder {shlex.quote(str(path.parent))}"
    return f"samequantity models fetch {model}{elsewhere}"
