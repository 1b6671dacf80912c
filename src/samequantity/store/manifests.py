"""Manifests: what a stage made, from what, with which code and settings. Deterministic: no time, host or path.

The manifest of `answers/smol.parquet` is `answers/smol.manifest.json`; the one of a folder of files, such as `tables/`,
is `tables/tables.manifest.json`. A manifest names its outputs by their role, not by the file that holds them, so a copy
in the object store has the same manifest.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from samequantity.errors import IntegrityError
from samequantity.store.digests import file_digest, json_digest
from samequantity.store.files import write_whole

FORMAT = 1
"""Version of the tables' and manifests' layout; it enters every key."""

SUFFIX = ".manifest.json"
RUN_SUFFIX = ".run.json"
STORED_NAME = "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides a stage's output, and so its key.

    `sources` is module → fingerprint, `inputs` is role → content digest, `packages` is name → version.
    """

    stage: str
    sources: Mapping[str, str]
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    packages: Mapping[str, str]

    @property
    def key(self) -> str:
        """SHA-256 over the canonical JSON of the recipe and the format's version, in hexadecimal."""
        return json_digest({"format": FORMAT, **asdict(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One file that a stage made: bytes' SHA-256; for a table also its content digest, rows and schema."""

    sha256: str
    content: str
    rows: int | None = None
    schema: list[list[str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A recipe and what came of it, by role; `part` is set for a shard (`2/3`), whose recipe is that of the whole."""

    recipe: Recipe
    outputs: Mapping[str, Output]
    part: str | None = None
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.recipe.key)

    def to_json(self) -> bytes:
        """Indented JSON with sorted keys: equal manifests are equal bytes."""
        content = {"format": FORMAT, "key": self.key, **asdict(self.recipe)}
        content["outputs"] = {role: asdict(output) for role, output in self.outputs.items()}
        if self.part:
            content["part"] = self.part
        return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a manifest; IntegrityError when it cannot be read or does not have the key that it claims."""
        try:
            content = json.loads(path.read_bytes())
            if content["format"] != FORMAT:
                raise ValueError(f"format {content['format']}")
            recipe = Recipe(**{name: content[name] for name in ("stage", "sources", "settings", "inputs", "packages")})
            outputs = {role: Output(**output) for role, output in content["outputs"].items()}
            manifest, claimed = cls(recipe=recipe, outputs=outputs, part=content.get("part")), str(content["key"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise IntegrityError(f"{path}: not a manifest of format {FORMAT} ({error!r}).") from error
        if claimed != manifest.key:
            raise IntegrityError(
                f"{path}: its key is {claimed[:12]}…, its content has {manifest.key[:12]}…: it was edited."
            )
        return manifest

    def write(self, path: Path) -> None:
        """Write it whole."""
        write_whole(path, self.to_json())

    def check(self, role: str, path: Path) -> Output:
        """The output of this role, after its file was found to be the promised one; IntegrityError otherwise."""
        output = self.outputs[role]
        if not path.exists():
            raise IntegrityError(f"{path}: missing, though its manifest is there.")
        found = file_digest(path)
        if found != output.sha256:
            raise IntegrityError(
                f"{path}: its bytes have SHA-256 {found[:12]}…, its manifest says {output.sha256[:12]}….\n"
                "The file was edited or half-written."
            )
        return output


def manifest_path(path: Path) -> Path:
    """Where the manifest of a file is: beside it under its own stem, else the one in its folder that names it.

    When there is none, the path where a table's manifest would be.
    """
    own = path.with_suffix(SUFFIX)
    if own.exists() or not path.parent.is_dir():
        return own
    neighbours = [*path.parent.glob(f"*{SUFFIX}"), path.parent / STORED_NAME]
    named = (neighbour for neighbour in sorted(neighbours) if neighbour.exists() and _names(neighbour, path.name))
    return next(named, own)


def _names(manifest: Path, role: str) -> bool:
    return f'"{role}"'.encode() in manifest.read_bytes() and role in Manifest.read(manifest).outputs


def role_of(path: Path, manifest: Manifest) -> str | None:
    """The role of a file among a manifest's outputs: its own name, else the one output of its suffix."""
    if path.name in manifest.outputs:
        return path.name
    alike = [role for role in manifest.outputs if Path(role).suffix == path.suffix]
    return alike[0] if len(alike) == 1 else None
