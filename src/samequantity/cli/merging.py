"""Command merge: the shards of one system's responses become one table."""

import time
from datetime import UTC, datetime
from pathlib import Path

import click

from samequantity.cli.inference import ROLE, Part, role, view_columns
from samequantity.cli.inputs import TableInput
from samequantity.cli.options import FILE, out, store, table_in
from samequantity.cli.running import Job, finish, write_products
from samequantity.errors import IntegrityError, TableError
from samequantity.registry import STAGES
from samequantity.store.manifests import Manifest
from samequantity.store.objects import ObjectStore
from samequantity.store.study import vouched


@click.command()
@table_in("views", "The views that were asked")
@click.argument("parts", type=FILE, nargs=-1, required=True)
@out("the responses go")
@store
def merge(views: Path, parts: tuple[Path, ...], out: Path, store: ObjectStore | None) -> None:
    """Put the shards PARTS of one system together: the same table for any number of shards."""
    asked = TableInput(path=views, columns=view_columns())
    manifests = [_shard(path) for path in parts]
    recipe = manifests[0].recipe
    for path, manifest in zip(parts, manifests, strict=True):
        if manifest.key != recipe.key:
            raise TableError(
                f"{path}: made with other settings, views or code than {parts[0]}; ask it again with infer"
            )
    numbers = sorted(manifest.part or "" for manifest in manifests)
    if numbers != sorted(str(Part(number=number, count=len(parts))) for number in range(1, len(parts) + 1)):
        raise TableError(f"{out}: the parts {', '.join(numbers)} are not one of each of {len(parts)}")
    if asked.digest != recipe.inputs["views"]:
        raise TableError(f"{parts[0]}: its views are not those of {views}; ask it again with infer")

    started, clock = datetime.now(UTC), time.perf_counter()
    from samequantity.stages.collect import merge as stage
    from samequantity.stages.responses import RESPONSES_SCHEMA

    tables = {str(path): TableInput(path=path, columns=RESPONSES_SCHEMA) for path in parts}
    job = Job(stage=STAGES["infer"], inputs={"views": asked, **tables}, settings={}, outputs={ROLE: out}, store=store)
    merged = stage([table.frame for table in tables.values()], asked.frame)
    whole = Manifest(recipe=recipe, outputs=write_products({role(out): out}, {role(out): merged}))
    whole.write(job.manifest_path)
    if store and role(out) == ROLE:
        store.put(whole, job.outputs)
    finish(job, whole, started=started, seconds=time.perf_counter() - clock, from_store=False, parts=len(parts))


def _shard(path: Path) -> Manifest:
    made = vouched(path)
    if made is None or made.manifest.part is None:
        raise IntegrityError(f"{path}: not a shard with its manifest, as infer writes them")
    return made.manifest
