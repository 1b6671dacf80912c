"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from samequantity.errors import SettingsError
from samequantity.store.objects import ObjectStore
from samequantity.store.tables import FORMATS

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)

Command = Callable[..., Any]


def _store(_: click.Context, __: click.Parameter, value: Path | None) -> ObjectStore | None:
    return None if value is None else ObjectStore(root=value)


store = click.option(
    "--store",
    type=FOLDER,
    callback=_store,
    help="Object store: take the result from it if it is there, keep it there if not. Default: none, always compute.",
)


def table_in(name: str, what: str, *, required: bool = True) -> Callable[[Command], Command]:
    """An option for a table that the command reads."""
    return click.option(f"--{name}", type=FILE, required=required, help=f"{what} (.parquet or .jsonl).")


def out(what: str) -> Callable[[Command], Command]:
    """The option for the table that the command writes."""
    return click.option(
        "--out", type=FILE, callback=_table_out, required=True, help=f"Where {what} (.parquet or .jsonl)."
    )


def _table_out(_: click.Context, __: click.Parameter, value: Path) -> Path:
    """Refuse another format at once, not when everything is computed."""
    if value.suffix not in FORMATS:
        raise SettingsError(f"--out {value}: a table is written as {' or '.join(sorted(FORMATS))}")
    return value


draws = click.option("--draws", type=click.IntRange(min=1), default=10_000, show_default=True, help="Bootstrap draws.")


def out_folder(what: str) -> Callable[[Command], Command]:
    """The option for the folder that the command writes to."""
    return click.option("--out", type=FOLDER, required=True, help=f"Folder for {what}.")


def mapping(_: click.Context, parameter: click.Parameter, value: str | None) -> dict[str, Any] | None:
    """Read an option's JSON object, or with a leading @ the YAML or JSON file of that name."""
    if value is None:
        return None
    import json

    from samequantity.cli.inputs import read_yaml

    if value.startswith("@"):
        return read_yaml(Path(value[1:]))
    try:
        content = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"--{parameter.name}: not JSON ({error})") from None
    if not isinstance(content, dict):
        raise SettingsError(f'--{parameter.name}: wanted is a JSON object such as {{"key": 1}}')
    return content
