"""Fixtures that tests of several folders share."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def quick_holm() -> Iterator[None]:
    """Keep what is loaded out of garbage collections: statsmodels' multipletests runs a full one at every call."""
    import scipy.stats
    import statsmodels.stats.contingency_tables

    assert scipy.stats
    assert statsmodels.stats.contingency_tables
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
