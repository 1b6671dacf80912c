"""Looking after a study: is each file what today's code would make, are its bytes whole, where does it come from."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from samequantity.errors import IntegrityError
from samequantity.store.digests import content_digest
from samequantity.store.manifests import Manifest
from samequantity.store.study import Made, cure
from samequantity.store.tables import PARQUET, read_table


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
    roles = {Path(file.role).stem for file in files}
    for file in files:
        yield State(made=file, reasons=tuple(_reasons(file, stages, here, roles)))


def _reasons(file: Made, stages: Mapping[str, StageFacts], here: set[str], roles: set[str]) -> Iterator[str]:
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
        if role in roles and digest not in here:
            yield f"made from other {role}"


def _changed(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))


def damage(file: Made) -> str | None:
    """What is wrong with a file's bytes or, for a table, with its content; None when it is whole."""
    try:
        output = file.manifest.check(file.role, file.path)
    except IntegrityError as error:
        return f"{error} {cure(file.path)}"
    if file.path.suffix == PARQUET:
        found = content_digest(read_table(file.path))
        if found != output.content:
            return (
                f"{file.path}: rows have content digest {found[:12]}…, its manifest says {output.content[:12]}….\n"
                f"{cure(file.path)}"
            )
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One step of a provenance chain: how deep, under which role, the digest, and who made it where known."""

    depth: int
    role: str
    digest: str
    made: Made | None


def chain(manifest: Manifest, files: Iterable[Made]) -> Iterator[Link]:
    """Everything that a manifest's outputs were made from, back to the sources, depth first."""
    by_content = {file.content: file for file in files}
    waiting = [(1, role, digest) for role, digest in reversed(list(manifest.recipe.inputs.items()))]
    while waiting:
        depth, role, digest = waiting.pop()
        made = by_content.get(digest)
        yield Link(depth=depth, role=role, digest=digest, made=made)
        if made is not None:
            inputs = reversed(list(made.manifest.recipe.inputs.items()))
            waiting.extend((depth + 1, inner, inner_digest) for inner, inner_digest in inputs)
