"""Command store: what the object store holds, what of it is reachable, and removing the rest."""

from pathlib import Path

import click

from samequantity.cli.options import FOLDER
from samequantity.errors import SettingsError
from samequantity.models.sizes import size_text
from samequantity.store.manifests import SUFFIX
from samequantity.store.objects import ObjectStore, StoredObject
from samequantity.store.study import read_manifest

_root = click.option(
    "--store", "root", type=FOLDER, default=Path("results/store"), show_default=True, help="The object store."
)
_results = click.option(
    "--results",
    type=FOLDER,
    multiple=True,
    default=(Path("results"),),
    show_default=True,
    help="Folder of studies; an object is reachable when a manifest under one of these has its key. Repeat it for a"
    " store that others share.",
)


@click.group()
def store() -> None:
    """List and clear the object store, which keeps what every stage made under the key of all that decided it."""


@store.command()
@_root
@_results
@click.option("--stage", help="Only objects of this stage.")
def ls(root: Path, results: tuple[Path, ...], stage: str | None) -> None:
    """List the objects: stage, key, size, whether a study reaches it, folder."""
    keys = _reachable(results)
    for found in ObjectStore(root=root).objects():
        if stage in (None, found.stage):
            click.echo(f"{_line(found)}  {'reachable' if found.key in keys else 'unreachable'}  {found.folder}")


@store.command()
@_root
@_results
@click.option("--dry-run", "-n", is_flag=True, help="Say what would be removed, and remove nothing.")
def gc(root: Path, results: tuple[Path, ...], dry_run: bool) -> None:
    """Remove the objects that no study reaches, such as those of an earlier parser."""
    objects, keys = ObjectStore(root=root), _reachable(results)
    rest = [found for found in objects.objects() if found.key not in keys]
    freed = sum(found.bytes for found in rest)
    for found in rest:
        click.echo(f"{'would remove' if dry_run else 'removing'}  {_line(found)}")
        if not dry_run:
            objects.remove(found)
    if not dry_run:
        objects.remove_unfinished()
    click.echo(f"{len(rest)} objects, {size_text(freed)} {'would be' if dry_run else 'were'} removed")


@store.command()
@_root
@click.argument("name")
def remove(root: Path, name: str) -> None:
    """Remove the object NAME, <stage>/<key> or the beginning of its key; the next run makes it again."""
    stage, _, key = name.partition("/")
    objects = ObjectStore(root=root)
    matching = [found for found in objects.objects() if found.stage == stage and key and found.key.startswith(key)]
    if len(matching) != 1:
        raise SettingsError(f"{name}: names {len(matching)} objects of {root}; see samequantity store ls")
    line = _line(matching[0])
    objects.remove(matching[0])
    click.echo(f"removed  {line}")


def _line(found: StoredObject) -> str:
    return f"{found.stage:<10} {found.key[:12]}  {size_text(found.bytes):>10}"


def _reachable(results: tuple[Path, ...]) -> set[str]:
    """The keys of all manifests of all studies."""
    if absent := [folder for folder in results if not folder.is_dir()]:
        raise SettingsError(f"{absent[0]}: no such folder of studies; name yours with --results")
    return {read_manifest(path).key for folder in results for path in folder.glob(f"*/**/*{SUFFIX}")}
