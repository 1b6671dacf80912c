"""Commands devices and runtime: what llama.cpp can compute on here, and what a study's systems ran on."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from samequantity.cli.options import FILE, FOLDER
from samequantity.errors import IntegrityError
from samequantity.store.files import write_whole
from samequantity.store.manifests import RUN_SUFFIX
from samequantity.store.study import vouched

if TYPE_CHECKING:
    from samequantity.engines.settings import Backend
    from samequantity.reporting.runtime import SystemRuntime


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
        backend_devices(require, found, offload=lib.llama_supports_gpu_offload())
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

    systems = [_system(path, runs) for path in responses]
    write_whole(out, page(systems).encode())


def _system(responses: Path, runs: Path) -> "SystemRuntime":
    from samequantity.reporting.runtime import SystemRuntime

    made = vouched(responses)
    if made is None:
        raise IntegrityError(f"{responses}: no manifest beside it, so nothing is known of what it ran on")
    recipe = made.manifest.recipe
    records = sorted((runs / responses.stem).glob(f"*{RUN_SUFFIX}"))
    return SystemRuntime(
        name=responses.stem, stage=recipe.stage, settings=recipe.settings, runs=[_record(path) for path in records]
    )


def _record(path: Path) -> Mapping[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IntegrityError(
            f"{path}: not a record of a run ({error}). Remove it; the next run writes it anew."
        ) from error
    if not isinstance(record, dict):
        raise IntegrityError(f"{path}: not a record of a run. Remove it; the next run writes it anew.")
    return record
