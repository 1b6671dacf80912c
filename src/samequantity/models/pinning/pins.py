"""Pinned models: which files a model is made of, their sizes and digests, and the sources that they can come from."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NewType

from samequantity.closed import (
    closed_mapping,
    open_mapping,
    optional_count,
    optional_text,
    read_yaml,
    sequence,
    text,
)
from samequantity.errors import SettingsError
from samequantity.models.naming import is_file_path
from samequantity.models.pinning.source_pins import HubPin, Sha256, SourcePin, require, require_commit, require_sha256
from samequantity.models.pinning.source_reading import placed, read_source

ModelName = NewType("ModelName", str)

MODELS_FILE = Path("resources/pinned_models.yaml")
MODELS_FOLDER = Path("resources/models")

_ENDINGS_OF_OURS = (".part", ".sha256")

# A plain name: no folder in it, and no leading dot or dash that a shell or a program could misread.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_] [A-Za-z0-9._-]{0,199}", re.VERBOSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePin:
    """One file of a model. A size or digest of None is not pinned: what the first fetch brings is recorded."""

    name: str
    size: int | None
    sha256: Sha256 | None
    sources: tuple[SourcePin, ...]

    def __post_init__(self) -> None:
        require(_PLAIN_NAME, self.name, "a plain file name")
        if self.name.endswith(_ENDINGS_OF_OURS):
            raise SettingsError(
                f"{self.name!r}: a file of a model has no name that ends in {' or '.join(_ENDINGS_OF_OURS)}: a fetch "
                f"keeps its own files beside the model's under such names."
            )
        if self.sha256 is not None:
            require_sha256(self.sha256)

    @property
    def hubs(self) -> tuple[HubPin, ...]:
        """The hub among the sources."""
        return tuple(source for source in self.sources if isinstance(source, HubPin))

    @property
    def pinned(self) -> bool:
        """Whether no value is empty."""
        return None not in (self.size, self.sha256, *(hub.revision for hub in self.hubs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A repository of the model hub, at a commit where that is known."""

    repository: str
    revision: str | None

    def __post_init__(self) -> None:
        if self.revision is not None:
            require_commit(self.revision)

    def __str__(self) -> str:
        return f"{self.repository} at {self.revision or 'a commit that is not known'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance(Repository):
    """Who published the model's files, and the checkpoint that they were made of, where that is told."""

    checkpoint: Repository | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPin:
    """A model: one GGUF file, or the shards of one in their order."""

    name: ModelName
    licence: str
    provenance: Provenance
    files: tuple[FilePin, ...]
    defined_in: Path

    def __post_init__(self) -> None:
        require(_PLAIN_NAME, self.name, "a plain model name")
        if is_file_path(self.name):
            raise SettingsError(f"{self.name!r} is not a model's name: one that ends in .gguf is the path of a file.")
        names = [file.name for file in self.files]
        if len(set(names)) != len(names):
            raise SettingsError(f"two files have one name: {', '.join(names)}.")

    @property
    def pinned(self) -> bool:
        """Whether no value is empty that `samequantity models lock` fills."""
        return all(file.pinned for file in self.files) and not self.publisher_is_open

    @property
    def publisher_is_open(self) -> bool:
        """Whether the publisher's commit is empty though the files come from that very repository."""
        from_there = any(hub.repository == self.provenance.repository for file in self.files for hub in file.hubs)
        return self.provenance.revision is None and from_there

    def revision_of(self, repository: str) -> str | None:
        """The commit of a repository that some value of this model pins; None when none does.

        Raises SettingsError when two are pinned: which one an empty value means, nobody can say then.
        """
        named = {hub.revision for file in self.files for hub in file.hubs if hub.repository == repository}
        if self.provenance.repository == repository:
            named.add(self.provenance.revision)
        commits = sorted(filter(None, named))
        if len(commits) > 1:
            raise SettingsError(
                f"{self.defined_in}: models.{self.name}: two commits of {repository} are pinned, "
                f"{' and '.join(commits)}. Write in each empty revision which one is meant."
            )
        return commits[0] if commits else None


def load_pins(path: Path = MODELS_FILE) -> Mapping[ModelName, ModelPin]:
    """The models of a models file, in its order.

    Raises SettingsError for a file that is missing or not YAML, and for a key or value that cannot be used; the
    message names the key and where it stands.
    """
    return pins_of(read_yaml(path), path)


def pins_of(content: object, path: Path) -> Mapping[ModelName, ModelPin]:
    """The models of a models file with that content; see `load_pins`."""
    top = closed_mapping(content, str(path), keys=("models",))
    models = open_mapping(top["models"], f"{path}: models")
    pins = {ModelName(name): _model(name, value, path) for name, value in models.items()}
    _require_one_file_per_name(pins.values(), path)
    return pins


def sharing(pin: ModelPin, pins: Mapping[ModelName, ModelPin]) -> tuple[ModelPin, ...]:
    """The other models that have a file of this one among theirs."""
    names = {file.name for file in pin.files}
    return tuple(
        other for other in pins.values() if other.name != pin.name and names & {file.name for file in other.files}
    )


def _require_one_file_per_name(pins: Iterable[ModelPin], path: Path) -> None:
    """Raise SettingsError for two different files of one name: in the models folder one would pass for the other."""
    first: dict[str, tuple[ModelPin, FilePin]] = {}
    for pin in pins:
        for file in pin.files:
            other, theirs = first.setdefault(file.name, (pin, file))
            if file != theirs:
                raise SettingsError(
                    f"{path}: models.{pin.name}: its file {file.name} has the name of a file of models.{other.name}, "
                    f"and another size, digest or source. All models lie in one folder: give one of the two files "
                    f"another name, or write the same values for both."
                )


def pin_of(pins: Mapping[ModelName, ModelPin], name: str) -> ModelPin:
    """The pin with that name; SettingsError with the names that there are."""
    pin = pins.get(ModelName(name))
    if pin is None:
        raise SettingsError(f"no model is called {name!r}; the models file has {', '.join(pins) or 'none'}.")
    return pin


def _model(name: str, value: object, path: Path) -> ModelPin:
    where = f"{path}: models.{name}"
    keys = closed_mapping(value, where, keys=("licence", "provenance", "files"))
    origin = closed_mapping(keys["provenance"], f"{where}.provenance", keys=("repository", "revision", "checkpoint"))
    files = sequence(keys["files"], f"{where}.files")
    try:
        return ModelPin(
            name=ModelName(name),
            licence=text(keys["licence"], f"{where}.licence"),
            provenance=Provenance(
                repository=text(origin["repository"], f"{where}.provenance.repository"),
                revision=optional_text(origin["revision"], f"{where}.provenance.revision"),
                checkpoint=_checkpoint(origin["checkpoint"], f"{where}.provenance.checkpoint"),
            ),
            files=tuple(_file(file, f"{where}.files[{index}]") for index, file in enumerate(files)),
            defined_in=path,
        )
    except SettingsError as error:
        raise placed(error, where) from error


def _checkpoint(value: object, where: str) -> Repository | None:
    if value is None:
        return None
    keys = closed_mapping(value, where, keys=("repository", "revision"))
    return Repository(
        repository=text(keys["repository"], f"{where}.repository"),
        revision=optional_text(keys["revision"], f"{where}.revision"),
    )


def _file(value: object, where: str) -> FilePin:
    keys = closed_mapping(value, where, keys=("name", "bytes", "sha256", "sources"))
    digest = optional_text(keys["sha256"], f"{where}.sha256")
    sources = sequence(keys["sources"], f"{where}.sources")
    try:
        return FilePin(
            name=text(keys["name"], f"{where}.name"),
            size=optional_count(keys["bytes"], f"{where}.bytes"),
            sha256=None if digest is None else Sha256(digest),
            sources=tuple(read_source(source, f"{where}.sources[{index}]") for index, source in enumerate(sources)),
        )
    except SettingsError as error:
        raise placed(error, where) from error
