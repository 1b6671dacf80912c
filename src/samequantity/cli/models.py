"""Command models: list, fetch and verify the pinned model files."""

from pathlib import Path

import click

from samequantity.cli.logs import log
from samequantity.cli.options import FILE, FOLDER
from samequantity.models.pins import MODELS_FILE, MODELS_FOLDER, load_pins, pin_of
from samequantity.models.progress import ConsoleReporter

pins_file = click.option("--models-file", type=FILE, default=MODELS_FILE, show_default=True, help="The pinned models.")
folder = click.option(
    "--folder", type=FOLDER, default=MODELS_FOLDER, show_default=True, help="Where model files lie; may be shared."
)


class LoggedReporter(ConsoleReporter):
    """Progress on the terminal; notices there and in the log file."""

    def line(self, text: str) -> None:
        """One notice of one line."""
        log.info(text)


@click.group()
def models() -> None:
    """List, fetch and verify model files. No file is used whose SHA-256 is not the pinned one."""


@models.command(name="list")
@pins_file
@folder
def list_models(models_file: Path, folder: Path) -> None:
    """What is pinned, where it would be fetched from, and whether it is here."""
    from samequantity.models.listing import model_rows

    for row in model_rows(load_pins(models_file).values(), folder):
        size = "size not pinned" if row.size is None else f"{row.size:,} bytes"
        click.echo(f"{row.model}: {row.presence}")
        click.echo(f"  file     {row.file}, {size}")
        click.echo(f"  sha256   {row.sha256 or 'not pinned'}")
        click.echo(f"  licence  {row.licence}")
        click.echo(f"  sources  {', then '.join(row.sources) or 'none'}")


@models.command()
@click.argument("name")
@pins_file
@folder
@click.option("--receipt", type=FILE, help="Write which files were found here; the workflow waits for it.")
def fetch(name: str, models_file: Path, folder: Path, receipt: Path | None) -> None:
    """Put the files of model NAME into the folder, from the first source that has them, and check their SHA-256."""
    from samequantity.models.files import fetch as fetch_files
    from samequantity.models.receipts import write_receipt

    found = fetch_files(pin_of(load_pins(models_file), name), folder, reporter=LoggedReporter())
    if receipt is not None:
        write_receipt(found, receipt)


@models.command()
@click.argument("names", nargs=-1)
@pins_file
@folder
def verify(names: tuple[str, ...], models_file: Path, folder: Path) -> None:
    """Hash the files of the models NAMES (default: all that are here) and compare them with their pins."""
    from samequantity.models.files import verify as verify_files
    from samequantity.models.listing import Presence, model_rows

    pins = load_pins(models_file)
    here = {row.model for row in model_rows(pins.values(), folder) if row.presence is not Presence.ABSENT}
    for name in names or sorted(here):
        for file in verify_files(pin_of(pins, name), folder).files:
            click.echo(f"{name}: {file.file}: SHA-256 {file.sha256}, as pinned")
