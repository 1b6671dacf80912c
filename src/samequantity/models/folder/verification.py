"""Hashing model files and comparing them with their pins, or with what their first fetch recorded."""

import shlex
from enum import StrEnum
from pathlib import Path

from samequantity.errors import IntegrityError, ModelError
from samequantity.models.folder.reading import model_digest
from samequantity.models.folder.receipts import FileReceipt, Receipt
from samequantity.models.folder.records import held_to, read_record, record_for, record_path
from samequantity.models.pinning.pins import MODELS_FOLDER, FilePin, ModelName, ModelPin
from samequantity.models.sizes import exact_size


class Standing(StrEnum):
    """What a file in the models folder is held to."""

    PINNED = "as pinned"
    RECORDED = "as recorded at its first fetch"
    FREE = "neither pinned nor recorded"


def verify(pin: ModelPin, folder: Path) -> Receipt:
    """Hash the model's files in the folder.

    Raises ModelError for a file that is missing, IntegrityError for one that is not the pinned one.
    """
    return Receipt(
        model=pin.name, files=tuple(verify_file(folder / file.name, file, model=pin.name) for file in pin.files)
    )


def verify_file(path: Path, file: FilePin, *, model: ModelName) -> FileReceipt:
    """Hash one whole file and compare it with its pin, or with what the first fetch recorded.

    Raises ModelError when the file is missing or unreadable or no regular file, IntegrityError when it is another one;
    the message says which file, which digest was wanted and found, and the command that gets the right one.
    """
    try:
        found, size = model_digest(path), path.stat().st_size
    except OSError as error:
        raise ModelError(
            f"{path}: the model file cannot be read ({error.strerror}). Get it: {fetch_command(path.parent, model)}"
        ) from error
    held = held_to(file, record_for(path, file))
    if held.sha256 not in (None, found) or held.size not in (None, size):
        raise IntegrityError(
            f"{path}: SHA-256 {found} ({exact_size(size)}); wanted {wanted(held)} for the model {model}"
            f"{said_by_record(path, file, held)}.\n"
            f"The file was changed or cut short, or is another model; it is not used. Delete it and get it again: "
            f"rm {shlex.quote(str(path))} && {fetch_command(path.parent, model)}"
        )
    return FileReceipt(file=file.name, size=size, sha256=found)


def standing(path: Path, file: FilePin) -> Standing:
    """What the file at `path` is held to."""
    if file.sha256 is not None:
        return Standing.PINNED
    return Standing.FREE if read_record(path) is None else Standing.RECORDED


def wanted(file: FilePin) -> str:
    """The digest and the size of a pin, for a message."""
    size = "" if file.size is None else f" ({exact_size(file.size)})"
    return f"{file.sha256 or 'any'}{size}"


def said_by_record(path: Path, file: FilePin, held: FilePin) -> str:
    """Where the values that the file at `path` is held to stand, when it is not in the pin, for a message."""
    return "" if (file.sha256, file.size) == (held.sha256, held.size) else f", as {record_path(path)} says"


def fetch_command(folder: Path, *models: ModelName) -> str:
    """The command that fetches models into a folder."""
    elsewhere = "" if folder.resolve() == MODELS_FOLDER.resolve() else f" --folder {shlex.quote(str(folder))}"
    return f"samequantity models fetch {' '.join(models)}{elsewhere}"
