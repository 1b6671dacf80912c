"""Runs one stage: key, store, computation, outputs with their manifest, and the record of the run."""

import json
import platform
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samequantity.cli.inputs import Input
from samequantity.cli.logs import log
from samequantity.errors import SettingsError
from samequantity.registry import Stage
from samequantity.store.digests import content_digest, file_digest, schema_of
from samequantity.store.files import write_whole
from samequantity.store.manifests import RUN_SUFFIX, SUFFIX, Manifest, Output, Recipe
from samequantity.store.objects import ObjectStore

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run of a stage: what it reads, its settings, and where its outputs go.

    Either `outputs` says where each output goes (role → path) and the first one names the manifest, or `folder` takes
    whatever files the stage makes, by their roles, and a manifest named after the stage.
    """

    stage: Stage
    inputs: Mapping[str, Input]
    settings: Mapping[str, Any]
    outputs: Mapping[str, Path] = field(default_factory=dict)
    folder: Path | None = None
    store: ObjectStore | None = None

    def __post_init__(self) -> None:
        read = {entry.path.resolve() for entry in self.inputs.values()}
        for path in self.outputs.values():
            if path.resolve() in read:
                raise SettingsError(f"{path}: is read by this command, which would overwrite it. Give another --out")

    @property
    def manifest_path(self) -> Path:
        """Where the job's manifest goes."""
        if self.folder is not None:
            return self.folder / f"{self.stage.name}{SUFFIX}"
        return next(iter(self.outputs.values())).with_suffix(SUFFIX)

    def paths(self, roles: Iterable[str]) -> dict[str, Path]:
        """Where the outputs of these roles go."""
        return {role: self.folder / role if self.folder else self.outputs[role] for role in roles}

    def recipe(self) -> Recipe:
        """All that decides the outputs: which ones there are, and so in which format, too."""
        return Recipe(
            stage=self.stage.name,
            sources=self.stage.sources,
            settings={**self.settings, "outputs": list(self.outputs)} if self.outputs else self.settings,
            inputs={name: entry.digest for name, entry in self.inputs.items()},
            packages=self.stage.versions,
        )


def run(job: Job, compute: "Callable[[], Mapping[str, pl.DataFrame | bytes]]") -> None:
    """Bring about the job's outputs: from the store if it holds them, else by computing and storing them.

    `compute` returns what to write by role. The manifest is written last, so that a job killed in the middle leaves
    nothing that passes for whole.
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    recipe = job.recipe()
    stored = job.store.get(recipe.stage, recipe.key) if job.store else None
    if job.store and stored:
        manifest, paths = stored, job.paths(stored.outputs)
        job.store.copy(stored, paths)
    else:
        products = compute()
        paths = job.paths(products)
        manifest = Manifest(recipe=recipe, outputs=write_products(paths, products))
    manifest.write(job.manifest_path)
    if job.store and not stored:
        job.store.put(manifest, paths)
    finish(job, manifest, started=started, seconds=time.perf_counter() - clock, from_store=stored is not None)


def write_products(paths: Mapping[str, Path], products: "Mapping[str, pl.DataFrame | bytes]") -> dict[str, Output]:
    """Write each product to its path, tables by suffix, and say what a manifest says of it."""
    return {role: _write(paths[role], product) for role, product in products.items()}


def _write(path: Path, product: "pl.DataFrame | bytes") -> Output:
    if isinstance(product, bytes):
        write_whole(path, product)
        digest = sha256(product).hexdigest()
        return Output(sha256=digest, content=digest)
    from samequantity.store.tables import write_table

    write_table(product, path)
    return Output(
        sha256=file_digest(path), content=content_digest(product), rows=len(product), schema=schema_of(product)
    )


def finish(job: Job, manifest: Manifest, *, started: datetime, seconds: float, from_store: bool, **facts: Any) -> None:
    """Record when, where and how long the job ran, and say so in one line."""
    record = {
        "stage": job.stage.name,
        "key": manifest.key,
        "from_store": from_store,
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "host": socket.gethostname(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        **facts,
    }
    run_path = job.manifest_path.with_name(job.manifest_path.name.removesuffix(SUFFIX) + RUN_SUFFIX)
    write_whole(run_path, (json.dumps(record, indent=1) + "\n").encode())
    how = "taken from the store" if from_store else f"computed in {seconds:.1f} s"
    what = job.folder or next(iter(job.outputs.values()))
    log.info("%s: %s (%s, key %s…)", job.stage.name, what, how, manifest.key[:12])
