"""Commands generate and render: from the benchmark's configuration to bases and prompts."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from samequantity.cli.inputs import ConfigInput, TableInput
from samequantity.cli.options import FILE, mapping, out, store, table_in
from samequantity.cli.running import Job, run
from samequantity.errors import SettingsError
from samequantity.registry import STAGES
from samequantity.store.objects import ObjectStore

if TYPE_CHECKING:
    import polars as pl

_config = click.option("--benchmark", type=FILE, required=True, help="The benchmark, such as config/benchmark.yaml.")


def _counts(context: click.Context, parameter: click.Parameter, value: str | None) -> dict[str, int] | None:
    sample = mapping(context, parameter, value)
    for template, count in (sample or {}).items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise SettingsError(f"--sample: {template}: wanted is a number of bases, found {count!r}")
    return sample


_exported = click.option(
    "--jsonl", type=FILE, help="Write the same rows here as JSON Lines too, with a .sha256 file that sha256sum reads."
)


@click.command()
@_config
@click.option(
    "--sample", callback=_counts, help='Bases to keep of each template, as JSON: {"rate_speed": 8}. Default: all.'
)
@out("the bases go")
@_exported
@store
def generate(
    benchmark: Path, sample: dict[str, int] | None, out: Path, jsonl: Path | None, store: ObjectStore | None
) -> None:
    """Draw the base problems, each with its exact answer.

    The same configuration gives the same bytes in every run and on every machine.
    """
    config = ConfigInput(path=benchmark)
    job = Job(
        stage=STAGES["generate"],
        inputs={"benchmark": config},
        settings={"sample": sample},
        outputs=_outputs("bases", out, jsonl),
        store=store,
    )

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.domain.benchmark import Benchmark
        from samequantity.stages.generate import generate as stage

        plan = config.read(Benchmark.from_config)
        if unknown := set(sample or {}) - set(plan.templates):
            raise SettingsError(
                f"--sample: unknown template {', '.join(sorted(unknown))}; there are {', '.join(plan.templates)}"
            )
        if sample is not None and not any(sample.values()):
            raise SettingsError("--sample: keeps no base; give one template a number above 0, or leave it out for all")
        return _products(job, stage(plan, sample))

    run(job, compute)


@click.command()
@table_in("bases", "The bases, as generate writes them")
@_config
@click.option("--wording", type=FILE, required=True, help="The words of the prompts, such as resources/wording.yaml.")
@out("the views go")
@_exported
@store
def render(
    bases: Path, benchmark: Path, wording: Path, out: Path, jsonl: Path | None, store: ObjectStore | None
) -> None:
    """Write each base in all its families: one prompt a view."""
    from samequantity.stages.generate import SCHEMA

    table = TableInput(path=bases, columns=SCHEMA)
    config, words = ConfigInput(path=benchmark), ConfigInput(path=wording)
    job = Job(
        stage=STAGES["render"],
        inputs={"bases": table, "benchmark": config, "wording": words},
        settings={},
        outputs=_outputs("views", out, jsonl),
        store=store,
    )

    def compute() -> "dict[str, pl.DataFrame | bytes]":
        from samequantity.domain.benchmark import Benchmark
        from samequantity.domain.wording import Wording
        from samequantity.stages.render import render as stage

        plan, skeletons = config.read(Benchmark.from_config), words.read(Wording.from_config)
        return _products(job, stage(table.frame, plan, skeletons))

    run(job, compute)


def _outputs(table: str, path: Path, exported: Path | None) -> dict[str, Path]:
    """The table, and its export with the file of its SHA-256, which names the export."""
    role = f"{table}{path.suffix}"
    if exported is None:
        return {role: path}
    digest = f"{exported.name}.sha256"
    outputs = {role: path, exported.name: exported, digest: exported.with_name(digest)}
    if len(outputs) != 3:
        raise SettingsError(f"--jsonl {exported}: --out {path} is JSON Lines already; leave one out")
    return outputs


def _products(job: Job, frame: "pl.DataFrame") -> "dict[str, pl.DataFrame | bytes]":
    """What goes to each of `_outputs`."""
    from hashlib import sha256

    from samequantity.store.tables import json_lines

    table, *exports = job.outputs
    products: dict[str, pl.DataFrame | bytes] = {table: frame}
    if exports:
        exported, digest = exports
        lines = json_lines(frame)
        products[exported] = lines
        products[digest] = f"{sha256(lines).hexdigest()}  {exported}\n".encode()
    return products
