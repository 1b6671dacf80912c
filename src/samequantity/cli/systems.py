"""How a command is told a system: its name, its model's files and its engine's settings."""

from dataclasses import dataclass
from pathlib import Path

import click

from samequantity.cli.models import folder, pins_file
from samequantity.cli.options import Command, mapping
from samequantity.errors import SettingsError
from samequantity.store.digests import file_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """A model's files, hashed: the first one, which the others are found by, and one digest for all.

    `pinned` says that the digest is the one that the models file promises; a file of the user's own is not.
    """

    path: Path
    digest: str
    pinned: bool


def system_options(command: Command) -> Command:
    """--system, --model with where models are found, and --settings."""
    options = (
        click.option("--system", required=True, help="Name of the system, as it stands in every table."),
        click.option(
            "--model", help="Name of a pinned model, or a GGUF file of your own. Not for an engine that is a server."
        ),
        pins_file,
        folder,
        click.option(
            "--settings",
            callback=mapping,
            required=True,
            help="Engine settings as JSON, or @FILE for a YAML or JSON file.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def model_files(model: str, models_file: Path, folder: Path) -> ModelFiles:
    """A pinned model, its files hashed and found right, or a file of the user's own, hashed."""
    own = Path(model)
    if own.suffix:
        if own.exists():
            return ModelFiles(path=own, digest=file_digest(own), pinned=False)
        if own.suffix == ".gguf":
            raise SettingsError(f"--model {model}: no such file")
    from samequantity.models.files import verify
    from samequantity.models.pins import load_pins, pin_of

    pin = pin_of(load_pins(models_file), model)
    return ModelFiles(path=folder / pin.files[0].name, digest=verify(pin, folder).digest, pinned=True)
