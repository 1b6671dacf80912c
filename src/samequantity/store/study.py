"""A study's folder, `results/<study>/`: what lies in it, whether it may be used, and the command that rebuilds it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from samequantity.errors import IntegrityError
from samequantity.store.manifests import RUN_SUFFIX, STORED_NAME, SUFFIX, Manifest, manifest_path, role_of
from samequantity.store.objects import removal
from samequantity.store.tables import PARQUET

RESULTS = "results"
RESERVED = frozenset({"store", "logs"})
"""Names under `results/` that no study can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A file that a manifest vouches for."""

    path: Path
    manifest_path: Path
    manifest: Manifest
    role: str

    @property
    def content(self) -> str:
        """Content digest of the table, or SHA-256 of another file."""
        return self.manifest.outputs[self.role].content


def study_of(path: Path) -> str | None:
    """The study in whose folder a path lies, seen from the working directory; None for a path elsewhere."""
    # abspath, not resolve: the folder of results may itself be a link to a larger disk.
    inside = Path(os.path.abspath(path))  # noqa: PTH100
    root = Path.cwd() / RESULTS
    if not inside.is_relative_to(root):
        return None
    name, *rest = inside.relative_to(root).parts or (".",)
    return name if rest and name not in RESERVED else None


def vouched(path: Path) -> Made | None:
    """The manifest's word on a file, checked against the file's bytes; None for a file from elsewhere without one.

    IntegrityError, with the command that rebuilds the file, when the bytes differ from the manifest's or when a file
    of a study has no manifest.
    """
    try:
        found = manifest_path(path)
        if not found.exists():
            if study_of(path) is None:
                return None
            raise IntegrityError(f"{path}: its manifest {found.name} is missing.")
        manifest = Manifest.read(found)
        role = role_of(path, manifest)
        if role is None:
            raise IntegrityError(f"{path}: {found.name} does not speak of it; it names {', '.join(manifest.outputs)}.")
        manifest.check(role, path)
    except IntegrityError as error:
        raise IntegrityError(f"{error} {cure(path)}") from error
    return Made(path=path, manifest_path=found, manifest=manifest, role=role)


def cure(path: Path) -> str:
    """The command that makes a file of a study again, or removes a damaged object; for others, the two ways out."""
    study = study_of(path)
    if (path.parent / STORED_NAME).exists():
        return removal(path.parent)
    if study is None:
        return f"Make it again, or remove {manifest_path(path).name} if the change is meant."
    return f"Rebuild it: {rebuild_command(path, study)}"


def rebuild_command(path: Path, study: str) -> str:
    """`snakemake … --forcerun <rule> -- <target>`, with the study's own configuration where it has one."""
    relative = Path(os.path.relpath(path))
    rule = _rule(relative)
    target = Path(*relative.parts[:3]) if rule in _MAKE_FOLDERS else relative
    own = Path("config") / f"{study}.yaml"
    configuration = f" --configfile {own}" if own.exists() else ""
    return f"snakemake --cores all{configuration} --forcerun {rule} -- {target}"


def read_manifest(path: Path) -> Manifest:
    """A manifest of a study; IntegrityError, with the command that rebuilds it, when it is damaged."""
    try:
        return Manifest.read(path)
    except IntegrityError as error:
        known = path.name == STORED_NAME or study_of(path) is not None
        raise IntegrityError(f"{error} {cure(path) if known else 'Make it again, or remove it.'}") from error


def made_files(folder: Path) -> Iterator[Made]:
    """Every file under `folder` that a manifest vouches for, unchecked, by path.

    IntegrityError, with the command that rebuilds it, for a manifest that cannot be read.
    """
    for found in manifest_files(folder):
        yield from made_by(found)


def manifest_files(folder: Path) -> list[Path]:
    """The manifests under `folder`, by path; those of a store's objects too."""
    return sorted([*folder.rglob(f"*{SUFFIX}"), *folder.rglob(STORED_NAME)])


def made_by(found: Path) -> list[Made]:
    """The files that one manifest vouches for, unchecked; IntegrityError as `made_files`."""
    manifest = read_manifest(found)
    return [
        Made(path=_file(found, role, manifest), manifest_path=found, manifest=manifest, role=role)
        for role in sorted(manifest.outputs)
    ]


def needs_manifest(path: Path) -> bool:
    """Whether a manifest must vouch for a file: a table of a study, and what is in a folder that a rule makes."""
    if study_of(path) is None or path.name.startswith(".") or path.name.endswith((SUFFIX, RUN_SUFFIX)):
        return False
    return path.suffix == PARQUET or _rule(Path(os.path.relpath(path))) in _MAKE_FOLDERS


def _file(manifest: Path, role: str, content: Manifest) -> Path:
    """The file of a role: the one of that name beside the manifest, else the one with the manifest's stem."""
    named = manifest.parent / role
    if manifest.name == STORED_NAME:
        return named
    own = manifest.parent / (manifest.name.removesuffix(SUFFIX) + Path(role).suffix)
    return named if named.exists() or len(content.outputs) > 1 else own


_RULES = {
    "bases": "generate",
    "base_benchmark": "generate",
    "views": "render",
    "views_benchmark": "render",
    "models": "fetch",
    "parts": "infer",
    "responses": "merge",
    "answers": "parse",
    "audits": "audit",
    "scores": "score",
    "intervals": "bootstrap",
    "comparisons": "compare",
    "again": "ask_again",
    "repeats": "repeat",
    "tokens": "tokens",
    "runtime": "runtime",
    "tables": "tables",
    "figures": "figures",
}
"""The rule that makes what lies at a place of a study."""

_MAKE_FOLDERS = frozenset({"tables", "figures"})
"""Rules whose output is a folder: Snakemake knows no rule for a file in it."""


def _rule(relative: Path) -> str:
    """The rule that makes a file, from its place: results/<study>/<place>/… or results/<study>/<place>.<suffixes>."""
    first, *rest = relative.parts[2:]
    place = first.partition(".")[0]
    if not rest and place in ("scores", "intervals", "comparisons", "tokens", "repeats"):
        return "collect"
    if place == "responses" and rest and not (relative.parents[1] / "parts" / relative.stem).is_dir():
        return "import"  # a system that was asked here has its shards
    return _RULES.get(place, "all")
