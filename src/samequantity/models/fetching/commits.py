"""Which commit of a repository an empty revision means: one for all files of a model, and the same one ever after."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from samequantity.errors import IntegrityError
from samequantity.models.fetching.hub_api import Snapshot, ask_repository
from samequantity.models.fetching.progress import Reporter
from samequantity.models.fetching.sources import SourceUnavailable
from samequantity.models.folder.records import read_record, record_path
from samequantity.models.pinning.pins import ModelPin
from samequantity.models.pinning.source_pins import HubPin, SourcePin


@dataclass(frozen=True, slots=True, kw_only=True)
class Commits:
    """The commits of one run of a command; what the hub says is asked for once."""

    folder: Path
    reporter: Reporter
    offline: bool
    snapshots: dict[tuple[str, str | None], Snapshot] = field(default_factory=dict)
    silence: list[SourceUnavailable] = field(default_factory=list)
    """That the hub cannot be reached, once it was found out."""

    def settled(self, pin: ModelPin, source: SourcePin) -> SourcePin:
        """The source with its commit, which may have to be asked for."""
        if isinstance(source, HubPin) and source.revision is None:
            return replace(source, revision=self.of(pin, source))
        return source

    def of(self, pin: ModelPin, source: HubPin) -> str:
        """The commit at which the model's files are taken from the source's repository.

        It is the pinned one, or the one that an earlier fetch recorded, or the hub's current one. Raises
        SourceUnavailable when the hub does not say.
        """
        known = source.revision or pin.revision_of(source.repository) or self._recorded(pin, source.repository)
        if known is not None:
            return known
        if self.offline:
            return _cached_commit(source)
        if (source.repository, None) not in self.snapshots:
            current = self.snapshot(source.repository, None)
            self.reporter.line(f"{source.repository}: no revision is pinned; its current commit is {current.commit}")
        return self.snapshots[source.repository, None].commit

    def snapshot(self, repository: str, commit: str | None) -> Snapshot:
        """The repository at a commit (None: the current one), as the hub describes it."""
        if self.offline:
            raise SourceUnavailable("the hub is not asked when offline")
        if (repository, commit) not in self.snapshots:
            if self.silence:
                raise self.silence[0]
            try:
                found = ask_repository(repository, commit)
            except SourceUnavailable as error:
                if error.unreachable:
                    self.silence.append(error)
                raise
            self.snapshots[repository, commit] = self.snapshots[repository, found.commit] = found
        return self.snapshots[repository, commit]

    def size(self, source: HubPin) -> int | None:
        """The size of a file at its settled commit; None when nobody says."""
        if self.offline:
            return None
        said = self.snapshot(source.repository, source.revision).files.get(source.file)
        return None if said is None else said.size

    def _recorded(self, pin: ModelPin, repository: str) -> str | None:
        """The commit beside the files that earlier fetches of this model left."""
        found = {
            record.source.commit: record_path(self.folder / file.name)
            for file in pin.files
            if (record := read_record(self.folder / file.name)) is not None
            if record.source is not None and record.source.repository == repository
        }
        if len(found) > 1:
            listed = " and ".join(f"{path} says {commit}" for commit, path in found.items())
            raise IntegrityError(
                f"{pin.name}: its files come from two commits of {repository}: {listed}. Files of one model belong to "
                f"one commit: delete the record and the file that are not meant, and fetch again."
            )
        return next(iter(found), None)


def _cached_commit(source: HubPin) -> str:
    """The commit that the hub's own cache last saw as the current one."""
    from huggingface_hub import constants, try_to_load_from_cache

    cached = try_to_load_from_cache(source.repository, source.file)
    if not isinstance(cached, str):
        raise SourceUnavailable("offline, no commit is pinned, and the hub's cache does not hold the file")
    return Path(cached).relative_to(constants.HF_HUB_CACHE).parts[2]  # models--…/snapshots/<commit>/…
