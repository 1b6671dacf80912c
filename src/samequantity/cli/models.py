"""Command models: list, fetch, verify and lock the pinned model files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.logs import log
from samequantity.cli.options import FILE, FOLDER
from samequantity.models.fetching.progress import ConsoleReporter
from samequantity.models.pinning.pins import MODELS_FILE, MODELS_FOLDER, ModelPin, load_pins, pin_of, sharing
from samequantity.models.sizes import size_text

if TYPE_CHECKING:
    from samequantity.models.folder.listing import FileRow, ModelRow

pins_file = click.option("--models-file", type=FILE, default=MODELS_FILE, show_default=True, help="The pinned models.")
folder = click.option(
    "--folder", type=FOLDER, default=MODELS_FOLDER, show_default=True, help="Where model files lie; may be shared."
)
offline = click.option(
    "--offline",
    is_flag=True,
    help="Use no network, as with HF_HUB_OFFLINE=1: the folder, local paths, the hub's cache.",
)


class LoggedReporter(ConsoleReporter):
    """Progress on the terminal; notices there and in the log file."""

    def line(self, text: str) -> None:
        """One notice of one line."""
        log.info(text)


@click.group()
def models() -> None:
    """List, fetch, verify and lock model files. No file is used whose SHA-256 is not the pinned one."""


@models.command(name="list")
@click.argument("names", nargs=-1)
@pins_file
@folder
@click.option("--json", "as_json", is_flag=True, help="Write JSON, for machines.")
def list_models(names: tuple[str, ...], models_file: Path, folder: Path, as_json: bool) -> None:
    """What the models NAMES (default: all) are, where they would be fetched from, and whether they are here."""
    from samequantity.models.folder.listing import model_rows

    rows = model_rows(_chosen(names, models_file), folder)
    if as_json:
        import json

        click.echo(json.dumps([row.to_json() for row in rows], indent=2))
        return
    for row in rows:
        for line in _lines(row, folder):
            click.echo(line)


@models.command()
@click.argument("names", nargs=-1, required=True)
@pins_file
@folder
@offline
@click.option("--receipt", type=FILE, help="Write which files were found here (one NAME); the workflow waits for it.")
def fetch(names: tuple[str, ...], models_file: Path, folder: Path, offline: bool, receipt: Path | None) -> None:
    """Put the files of the models NAMES into the folder, from the first source that has them, and check their SHA-256.

    A download that was cut off goes on where it ended. A repository that is gated needs your token: HF_TOKEN, or the
    one of `hf auth login`.
    """
    if receipt is not None and len(names) != 1:
        raise click.UsageError("--receipt is for one model; name one.")
    from samequantity.models.fetching.files import fetch_models
    from samequantity.models.folder.receipts import write_receipt

    found = fetch_models(_chosen(names, models_file), folder, reporter=LoggedReporter(), offline=offline)
    if receipt is not None:
        write_receipt(found[0], receipt)


@models.command()
@click.argument("names", nargs=-1)
@pins_file
@folder
def verify(names: tuple[str, ...], models_file: Path, folder: Path) -> None:
    """Hash every file of the models NAMES (default: all that are here) and compare them with their pins."""
    from samequantity.models.folder.listing import Presence, model_rows
    from samequantity.models.folder.verification import standing
    from samequantity.models.folder.verification import verify as verify_files

    pins = _chosen(names, models_file)
    here = {row.model for row in model_rows(pins, folder) if any(f.presence is not Presence.ABSENT for f in row.files)}
    for pin in pins if names else [pin for pin in pins if pin.name in here]:
        for file, pinned in zip(verify_files(pin, folder).files, pin.files, strict=True):
            held = standing(folder / file.file, pinned)
            click.echo(f"{pin.name}: {file.file}: SHA-256 {file.sha256}, {held}")


@models.command()
@click.argument("names", nargs=-1)
@pins_file
@folder
@offline
@click.option("--dry-run", "-n", is_flag=True, help="Say what would be written, and write nothing.")
def lock(names: tuple[str, ...], models_file: Path, folder: Path, offline: bool, dry_run: bool) -> None:
    """Fill the empty values of the models NAMES (default: all that have some) in the models file.

    The values are those of the files that are here, else those that the hub gives; nothing is downloaded. What is
    pinned is never changed, and all else in the file stays as it is.
    """
    everything = load_pins(models_file)
    pins = _chosen(names, models_file)
    for pin in list(pins):
        for other in sharing(pin, everything):
            if other not in pins:
                # Filled alone, one of the two would be another file of the same name.
                log.info(f"{other.name}: has a file of {pin.name}, so its values are filled in as well")
                pins.append(other)
    for pin in pins if names else ():
        if pin.pinned:
            log.info(f"{pin.name}: every value is pinned")
    open_pins = [pin for pin in pins if not pin.pinned]
    if not open_pins:
        log.info(f"{models_file}: nothing to fill in")
        return
    from samequantity.models.pinning.locking import lock as lock_values

    values = lock_values(open_pins, models_file, folder, reporter=LoggedReporter(), offline=offline, dry_run=dry_run)
    count = f"{len(values)} value{'' if len(values) == 1 else 's'}"
    log.info(f"{models_file}: {count} {'would be written' if dry_run else 'written'}")


def _chosen(names: Sequence[str], models_file: Path) -> list[ModelPin]:
    pins = load_pins(models_file)
    return [pin_of(pins, name) for name in dict.fromkeys(names)] if names else list(pins.values())


def _lines(row: "ModelRow", folder: Path) -> list[str]:
    unpinned = f"not pinned yet: samequantity models lock {row.model}"
    publisher = row.provenance
    commit = publisher.revision or (unpinned if row.publisher_is_open else "a commit that is not known")
    lines = [
        f"{row.model}: {row.presence}",
        f"  licence    {row.licence}",
        f"  published  {publisher.repository} at {commit}",
        f"  made from  {publisher.checkpoint or 'a checkpoint that is not told'}",
        f"  total      {_total(row, folder)}",
    ]
    if not row.pinned:
        lines.append(f"  values     {unpinned}")
    for file in row.files:
        lines += _file_lines(file, unpinned)
    return lines


def _total(row: "ModelRow", folder: Path) -> str:
    size = "size not known" if row.size is None else size_text(row.size)
    if row.missing == 0:
        return f"{size}; nothing to fetch"
    missing = "an unknown size" if row.missing is None else size_text(row.missing)
    room = {True: "there is room", False: "there is NO ROOM", None: "enough or not"}[row.has_room]
    return f"{size}; {missing} to fetch, {size_text(row.free)} free in {folder}: {room}"


def _file_lines(file: "FileRow", unpinned: str) -> list[str]:
    # What the first fetch recorded holds as much as a pin does, and only here.
    recorded = " (recorded here)" if file.recorded else ""
    size = unpinned if file.size is None else f"{file.size:,} bytes"  # to the byte, as the digest
    return [
        f"  file       {file.file}: {file.presence}",
        f"    size     {size}",
        f"    sha256   {unpinned if file.sha256 is None else file.sha256 + recorded}",
        f"    sources  {', then '.join(file.sources) or 'none'}",
    ]
