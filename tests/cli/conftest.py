"""What the commands work on: somebody's files, or a small study."""

import os
import shutil
from pathlib import Path

import pytest

import small_study
from foreign import RESPONSES, VIEWS, write


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished study; copy it (`study`), and leave it as it is."""
    folder = tmp_path_factory.mktemp("finished")
    before = Path.cwd()
    os.chdir(folder)
    try:
        small_study.make()
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def study(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a finished study of one's own in results/tiny and its objects in results/store."""
    folder = tmp_path / "project"
    shutil.copytree(finished, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with somebody's views and responses."""
    monkeypatch.chdir(tmp_path)
    write("views.jsonl", VIEWS)
    write("smol.jsonl", RESPONSES)
    return tmp_path
