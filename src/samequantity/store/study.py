"""A study's folder, `results/<study>/`: what lies in it, whether it may be used, and the command that rebuilds it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from samequantity.errors import IntegrityError
from samequantity.store.manifests import SUFFIX, Manifest, manifest_path, role_of

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
    found = manifest_path(path)
    try:
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
    """The command that makes a file of a study again; for a file from elsewhere, the two ways out."""
    study = study_of(path)
    if study is None:
        return f"Make it again, or remove {manifest_path(path).name} if the change is meant."
    return f"Rebuild it: {rebuild_command(path, study)}"


def rebuild_command(path: Path, study: str) -> str:
    """`snakemake … --forcerun <rule> -- <file>`, with the study's own configuration where it has one."""
    relative = Path(os.path.relpath(path))
    own = Path("config") / f"{study}.yaml"
    configuration = f" --configfile {own}" if own.exists() else ""
    return f"snakemake --cores all{configuration} --forcerun {_rule(relative)} -- {relative}"


def made_files(folder: Path) -> Iterator[Made]:
    """Every file under `folder` that a manifest vouches for, unchecked, by path."""
    for found in sorted(folder.rglob(f"*{SUFFIX}")):
        manifest = Manifest.read(found)
        for role in sorted(manifest.outputs):
            yield Made(path=_file(found, role, manifest), manifest_path=found, manifest=manifest, role=role)


def _file(manifest: Path, role: str, content: Manifest) -> Path:
    """The file of a role: the one of that name beside the manifest, else the one with the manifest's stem."""
    named = manifest.parent / role
    own = manifest.parent / (manifest.name.removesuffix(SUFFIX) + Path(role).suffix)
    return named if named.exists() or len(content.outputs) > 1 else own


_RULES = {"parts": "infer", "responses": "merge", "answers": "parse", "audits": "audit", "models": "fetch"}
_RULES |= {"bases": "generate", "views": "render", "base_benchmark": "generate", "views_benchmark": "render"}
_RULES |= {"tables": "tables", "figures": "figures", "scores": "score", "intervals": "bootstrap"}


def _rule(relative: Path) -> str:
    """The rule that makes a file, from its place: results/<study>/<place>/… or results/<study>/<place>.<suffix>."""
    parts = relative.parts[2:]
    if len(parts) == 1 and Path(parts[0]).stem in ("scores", "intervals"):
        return "collect"
    return _RULES.get(Path(parts[0]).stem, "all")
