"""One finished run of the workflow, which tests copy."""

from pathlib import Path

import pytest
from projects import Project, make_project


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project after an undisturbed run; not to be changed."""
    project = make_project(tmp_path_factory.mktemp("finished") / "project")
    run = project.snakemake()
    assert 0 == run.status, run.output
    return project


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished project."""
    return finished.copy(tmp_path / "project")
