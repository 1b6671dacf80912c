"""The order of the tests."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those of the workflow come first: they take longest, and beside them the other process has enough to do."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)
