"""Looking after a study: is each file what today's code would make, are its bytes whole, where does it come from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from samequantity.errors import IntegrityError
from samequantity.store.digests import content_digest
from samequantity.store.manifests import RUN_SUFFIX, Manifest, manifest_path
from samequantity.store.study import Made, cure, needs_manifest, vouched
from samequantity.store.tables import PARQUET, read_table

if TYPE_CHECKING:
    import polars as pl

_REFERENCE = "reference_"


class StageFacts(Protocol):
    """What today's code says of a stage: fingerprints of its modules, versions of its packages."""

    @property
    def sources(self) -> Mapping[str, str]: ...

    @property
    def versions(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A file of a study and the reasons why it would be made anew; none: it is up to date."""

    made: Made
    reasons: tuple[str, ...]


def states(made: Iterable[Made], stages: Mapping[str, StageFacts]) -> Iterator[State]:
    """Compare each file's manifest with today's code and with the files that it was made from. Hashes no file."""
    files = list(made)
    here = {file.content for file in files}
    places = {_Place(role=Path(file.role).stem, name=file.path.stem) for file in files}
    for file in files:
        yield State(made=file, reasons=tuple(_reasons(file, stages, here, places)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a table of a role lies: under its role's name (`views.parquet`) or a system's (`answers/smol.parquet`)."""

    role: str
    name: str


def _reasons(file: Made, stages: Mapping[str, StageFacts], here: set[str], places: set[_Place]) -> Iterator[str]:
    recipe = file.manifest.recipe
    if not file.path.exists():
        yield "missing"
    if recipe.stage not in stages:
        yield f"made by a stage {recipe.stage} that there is no more"
        return
    today = stages[recipe.stage]
    if changed := _changed(recipe.sources, today.sources):
        yield f"changed: {', '.join(changed)}"
    if changed := _changed(recipe.packages, today.versions):
        yield f"other version of {', '.join(changed)}"
    for role, digest in recipe.inputs.items():
        if digest in here:
            continue
        # A number is the place of one system's table among those that were put together.
        if role.isdigit():
            yield f"made from another table {role}"
        elif _Place(role=role, name=role) in places or _place_of_input(role, file.path) in places:
            yield f"made from other {role}"


def _place_of_input(role: str, path: Path) -> _Place:
    """Where the input of one system's table lies: under that system's name, which is the table's own.

    A comparison has its reference's name, in a folder with the name of the system that is compared.
    """
    if role.startswith(_REFERENCE):
        return _Place(role=role.removeprefix(_REFERENCE), name=path.stem)
    return _Place(role=role, name=path.parent.name if path.parent.parent.name == "comparisons" else path.stem)


def _changed(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))


def damage(file: Made) -> str | None:
    """What is wrong with a file's bytes or, for a table, with its content; None when it is whole."""
    try:
        file.manifest.check(file.role, file.path)
    except IntegrityError as error:
        return f"{error} {cure(file.path)}"
    try:
        if file.path.suffix == PARQUET:
            checked_rows(file)
    except IntegrityError as error:
        return str(error)
    return None


def unvouched(folder: Path, made: Iterable[Made]) -> Iterator[str]:
    """What is wrong with the files of a study that a manifest must speak of and none does."""
    known = {file.path for file in made}
    for path in sorted(folder.rglob("*")):
        if path not in known and path.is_file() and needs_manifest(path):
            try:
                vouched(path)
            except IntegrityError as error:
                yield str(error)


def gone(folder: Path) -> Iterator[Path]:
    """Tables of a study that are lost with their manifests, as after a failed job; the record of their run is left."""
    for run in sorted(folder.rglob(f"*{RUN_SUFFIX}")):
        table = run.with_name(run.name.removesuffix(RUN_SUFFIX) + PARQUET)
        if needs_manifest(table) and not table.exists() and not manifest_path(table).exists():
            yield table


def checked_rows(file: Made) -> "pl.DataFrame":
    """The rows of a Parquet file; IntegrityError when they are not those of its manifest, which then was edited."""
    rows = read_table(file.path)
    found = content_digest(rows)
    if found != file.content:
        raise IntegrityError(
            f"{file.path}: rows have content digest {found[:12]}…, its manifest says {file.content[:12]}….\n"
            f"One of the two was edited. {cure(file.path)}"
        )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One step of a provenance chain: how deep, under which role, the digest, and who made it where known.

    `known` says that its maker was met before; what that was made from is not told again.
    """

    depth: int
    role: str
    digest: str
    made: Made | None
    known: bool = False


def chain(manifest: Manifest, files: Iterable[Made]) -> Iterator[Link]:
    """Everything that a manifest's outputs were made from, back to the sources, depth first.

    Collecting the table of a single system gives a table of the same content, so a digest can have several makers; one
    that the chain has passed on its way is not its own source.
    """
    makers: defaultdict[str, list[Made]] = defaultdict(list)
    for file in files:
        makers[file.content].append(file)
    yield from _links(manifest, makers, [manifest.key], set())


def _links(manifest: Manifest, makers: Mapping[str, list[Made]], passed: list[str], told: set[str]) -> Iterator[Link]:
    for role, digest in manifest.recipe.inputs.items():
        made = next((maker for maker in makers.get(digest, []) if maker.manifest.key not in passed), None)
        known = made is not None and made.manifest.key in told
        yield Link(depth=len(passed), role=role, digest=digest, made=made, known=known)
        if made is not None and not known:
            told.add(made.manifest.key)
            yield from _links(made.manifest, makers, [*passed, made.manifest.key], told)
