"""The stand-ins of `fake_sources`, for every test of this folder."""

from fake_sources import blackhole, closed_port, hub, settings, start_fetch, told, wheels

__all__ = ["blackhole", "closed_port", "hub", "settings", "start_fetch", "told", "wheels"]
