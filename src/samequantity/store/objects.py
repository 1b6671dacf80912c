"""The object store: what a stage made, under the key of everything that decided it.

`<root>/<stage>/<key>/` holds the output files by role and their manifest. Objects are written once, read-only, and
never linked to: results are copies.
"""

import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from samequantity.errors import IntegrityError
from samequantity.store.files import appearing, copy_apart, naming, sync
from samequantity.store.manifests import STORED_NAME, Manifest

_UNFINISHED = ".unfinished"
_ABANDONED_AFTER_SECONDS = 24 * 3600  # an unfinished object may be another process's that is just writing it


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """One object: where it lies, of which stage, under which key."""

    stage: str
    key: str
    folder: Path

    @property
    def bytes(self) -> int:
        """Size of all its files."""
        return sum(file.stat().st_size for file in self.folder.iterdir())


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStore:
    """A folder of objects, which several studies and users may share."""

    root: Path

    def put(self, manifest: Manifest, files: Mapping[str, Path]) -> None:
        """Store the files (role → path) under the manifest's key; an object that is there already stays."""
        target = self.root / manifest.recipe.stage / manifest.key
        if target.exists():
            return
        unfinished = self._folder(_UNFINISHED, uuid.uuid4().hex)
        try:
            with naming(target):
                self._fill(unfinished, manifest, files)
            self._folder(manifest.recipe.stage)
            unfinished.rename(target)
        except OSError:
            _remove(unfinished)
            if not target.exists():  # else another process was first; equal keys have equal content
                raise
        sync(target.parent)

    def get(self, stage: str, key: str) -> Manifest | None:
        """The manifest of a stored object after all its files were checked, or None when there is none.

        IntegrityError names a damaged object and the command that removes it.
        """
        folder = self.root / stage / key
        if not folder.exists():
            return None
        try:
            manifest = Manifest.read(folder / STORED_NAME)
            for role in manifest.outputs:
                manifest.check(role, folder / role)
        except (IntegrityError, FileNotFoundError) as error:
            raise IntegrityError(f"{error}\n{removal(folder)}") from error
        return manifest

    def copy(self, manifest: Manifest, files: Mapping[str, Path]) -> None:
        """Copy a stored object's outputs to the given paths (role → path)."""
        folder = self.root / manifest.recipe.stage / manifest.key
        for role, path in files.items():
            with appearing(path) as temporary:
                copy_apart(folder / role, temporary)

    def objects(self) -> Iterator[StoredObject]:
        """All objects, by stage and key."""
        for folder in sorted(self.root.glob("[!.]*/*/")):
            yield StoredObject(stage=folder.parent.name, key=folder.name, folder=folder)

    def remove(self, stored: StoredObject) -> None:
        """Remove one object."""
        _remove(stored.folder)

    def remove_unfinished(self) -> None:
        """Remove what interrupted writers left behind a day ago or earlier."""
        for folder in self.root.glob(f"{_UNFINISHED}/*/"):
            if time.time() - folder.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
                _remove(folder)

    def _fill(self, folder: Path, manifest: Manifest, files: Mapping[str, Path]) -> None:
        """Copy the files and the manifest into a new folder, for reading only."""
        for role, path in files.items():
            copy_apart(path, folder / role)
        (folder / STORED_NAME).write_bytes(manifest.to_json())
        for file in folder.iterdir():
            file.chmod(0o444)
            sync(file)
        sync(folder)

    def _folder(self, *names: str) -> Path:
        """A folder of the store, made where it is missing, as open to a group as the root is."""
        self.root.mkdir(parents=True, exist_ok=True)
        folder = self.root
        for name in names:
            folder /= name
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            shutil.copymode(self.root, folder)
        return folder


def removal(folder: Path) -> str:
    """What to do about a damaged object, given its folder."""
    return (
        "This object of the store is damaged. Remove it, and the next run makes it again:"
        f" samequantity store remove {folder.parent.name}/{folder.name[:12]} --store {folder.parent.parent}"
    )


def _remove(folder: Path) -> None:
    """Remove a folder of read-only files; on some systems a read-only file must be made writable first."""
    for directory, _, names in os.walk(folder):
        for name in names:
            Path(directory, name).chmod(0o644)
    shutil.rmtree(folder)
