"""Commands devices and runtime: what llama.cpp can compute on here, and what a study's systems ran on."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.options import FILE, FOLDER
from samequantity.errors import IntegrityError, SettingsError, TableError
from samequantity.store.files import write_whole
from samequantity.store.manifests import RUN_SUFFIX
from samequantity.store.study import Made, vouched

if TYPE_CHECKING:
    from samequantity.engines.llama.settings import Backend
    from samequantity.reporting.runtime import Run, SystemRuntime

_RESPONSES = ("view_id", "prompt_sha256", "text", "raw_finish_reason")
"""Columns that responses have, and together no other table."""


@click.command()
@click.option(
    "--require",
    type=click.Choice(["cpu", "cuda", "metal"]),
    help="Fail, saying why, unless llama.cpp can compute on this here.",
)
def devices(require: "Backend | None") -> None:
    """List what llama.cpp finds to compute on: processors and GPUs."""
    import llama_cpp.llama_cpp as lib

    from samequantity.engines.llama.library import backend_devices, library_facts
    from samequantity.engines.llama.library import devices as all_devices

    found, facts = all_devices(), library_facts()
    if require is not None:
        backend_devices(require, found, offload=lib.llama_supports_gpu_offload(), wanted="What is wanted is")
    click.echo(f"llama-cpp-python {facts['llama_cpp_python']}, llama.cpp {facts['llama_cpp_commit']}")
    for device in found:
        click.echo(f"{device.name}: {device.description} ({device.registry})")


@click.command()
@click.argument("responses", type=FILE, nargs=-1, required=True)
@click.option("--runs", type=FOLDER, required=True, help="Folder with one folder a system of its shards' run.json.")
@click.option("--out", type=FILE, required=True, help="Where the page goes (.md).")
def runtime(responses: tuple[Path, ...], runs: Path, out: Path) -> None:
    """Write what the systems of RESPONSES ran on: build, backend, devices, settings, and where the paper differs."""
    from samequantity.reporting.runtime import page

    names = [path.stem for path in responses]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SettingsError(f"{', '.join(twice)}: given twice; a system has one table of responses, named after it")
    systems = [_system(path, runs) for path in responses]
    write_whole(out, page(systems).encode())


def _system(responses: Path, runs: Path) -> "SystemRuntime":
    from samequantity.reporting.runtime import SystemRuntime

    made = vouched(responses)
    if made is None:
        raise IntegrityError(f"{responses}: no manifest beside it, so nothing is known of what it ran on")
    _refuse_other_tables(made)
    records = sorted((runs / responses.stem).glob(f"*{RUN_SUFFIX}"))
    return SystemRuntime(
        name=responses.stem, settings=made.manifest.recipe.settings, runs=[_run(path) for path in records]
    )


def _refuse_other_tables(made: Made) -> None:
    """TableError for a table of anything but responses, of whose making the manifest says nothing of the sort."""
    columns = [column[0] for column in made.manifest.outputs[made.role].schema or ()]
    if missing := [name for name in _RESPONSES if name not in columns]:
        raise TableError(
            f"{made.path}: not a table of responses; it has no column {', '.join(missing)}. "
            "Pass what infer, merge or import wrote, as results/<study>/responses/<system>.parquet"
        )


def _run(path: Path) -> "Run":
    from samequantity.reporting.runtime import Run

    try:
        return Run.read(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        raise IntegrityError(
            f"{path}: not a record of a run ({error}). Remove it; the next run writes it anew."
        ) from error
