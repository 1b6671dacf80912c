"""How a command is told a system: its name, its model's files and its engine's settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.logs import log
from samequantity.cli.models import folder, pins_file
from samequantity.cli.options import Command, mapping
from samequantity.errors import SettingsError
from samequantity.models.naming import is_file_path

if TYPE_CHECKING:
    from samequantity.engines.base import Engine, Facts
    from samequantity.engines.opening import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """A model's files, hashed: the first one, which the others are found by, and one digest for all.

    `pinned` says that the digest is the one that the models file promises; a file of the user's own is not.
    """

    path: Path
    digest: str
    pinned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What is asked: an engine's settings and, unless the engine is a server, a model's files."""

    name: str
    settings: "Settings"
    files: ModelFiles | None

    def identity(self) -> "Facts":
        """What the engine is, as far as that decides an answer; no model is loaded."""
        from samequantity.engines.opening import engine_identity

        path, digest = (self.files.path, self.files.digest) if self.files else (None, None)
        return engine_identity(self.settings, path, digest)

    def opened(self) -> "Engine":
        """The engine, its model loaded; a context manager."""
        from samequantity.engines.opening import open_engine

        if self.files is None:
            return open_engine(self.settings, None, None, notice=log.info)
        path, digest, pinned = self.files.path, self.files.digest, self.files.pinned
        return open_engine(self.settings, path, digest, trusted=pinned, notice=log.info)


def system_of(name: str, model: str | None, models_file: Path, folder: Path, settings: Mapping[str, object]) -> System:
    """The system that `system_options` tell, its model's files hashed."""
    from samequantity.engines.opening import read_settings

    read = read_settings(settings, where=f"settings of {name}")
    return System(name=name, settings=read, files=None if model is None else model_files(model, models_file, folder))


def system_options(command: Command) -> Command:
    """--system, --model with where models are found, and --settings."""
    options = (
        click.option("--system", required=True, help="Name of the system, as it stands in every table."),
        click.option(
            "--model",
            help="Name of a pinned model, or the path of a GGUF file of your own, with a / in it or .gguf at its end. "
            "Not for an engine that is a server.",
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
    """A pinned model, its files hashed and found right, or a file of the user's own, hashed with its other shards.

    Raises SettingsError for a file that is not there and for a name that is not pinned; it says which was looked for.
    """
    own = Path(model)
    if is_file_path(model):
        if not own.exists():
            raise SettingsError(
                f"--model {model}: no such file. What has a / in it or ends in .gguf is the path of a file; the name "
                f"of a pinned model has neither."
            )
        from samequantity.models.folder.splits import shards_digest

        return ModelFiles(path=own, digest=shards_digest(own), pinned=False)
    from samequantity.models.folder.verification import verify
    from samequantity.models.pinning.pins import load_pins, pin_of

    try:
        pin = pin_of(load_pins(models_file), model)
    except SettingsError as error:
        if not own.exists():
            raise SettingsError(
                f"--model {model}: {error} A file of your own is meant by a path that has a / in it or ends in .gguf."
            ) from error
        raise SettingsError(f"--model {model}: {error} For the file of that name: --model ./{model}") from error
    return ModelFiles(path=folder / pin.files[0].name, digest=verify(pin, folder).digest, pinned=True)
