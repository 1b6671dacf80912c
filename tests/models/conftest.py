"""The stand-ins of `fake_hub` and `fake_sources`, for every test of this folder."""

import pytest

from fake_hub import LATER, MOVED, REVISION, SHARDS, FakeHub, hub, hub_here
from fake_sources import Settings, blackhole, closed_port, settings, start_fetch, told, wheels
from samequantity.models.pinning.pins import ModelPin

__all__ = ["blackhole", "closed_port", "hub", "hub_here", "settings", "start_fetch", "told", "wheels"]


@pytest.fixture
def pin(settings: Settings, hub_here: FakeHub) -> ModelPin:
    """Two shards of which nothing is pinned."""
    hub_here.commits = {REVISION: dict(SHARDS), LATER: dict(MOVED)}
    return settings.write_shards(dict.fromkeys(SHARDS))


@pytest.fixture
def pinned_shards(settings: Settings, hub_here: FakeHub) -> ModelPin:
    """Two shards, pinned, at a hub that has them."""
    hub_here.commits = {REVISION: dict(SHARDS)}
    return settings.write_shards(SHARDS, revision=REVISION)
