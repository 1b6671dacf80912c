"""One finished run of the workflow, which tests copy."""

import os
from pathlib import Path

import pytest
from filelock import FileLock
from projects import Project, make_project


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project after an undisturbed run, one for both test processes; not to be changed."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "finished"
    with FileLock(folder.with_suffix(".lock")):
        if folder.exists():
            return Project(folder=folder)
        project = make_project(folder)
        run = project.snakemake()
        assert 0 == run.status, run.output
    return project


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished project."""
    return finished.copy(tmp_path / "project")
