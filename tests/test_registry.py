"""The registry names each stage's code and packages, for keys, status and Snakemake."""

from importlib.metadata import version

import pytest

from samequantity.errors import SettingsError
from samequantity.registry import STAGES, Stage, stage_named
from samequantity.store.fingerprints import fingerprint


def test_a_stage_is_found_by_its_name() -> None:
    assert all(stage is stage_named(name) for name, stage in STAGES.items())
    with pytest.raises(SettingsError, match="no stage is called 'parsing'; the stages are generate, render, infer"):
        stage_named("parsing")


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_its_sources_are_fingerprints_of_all_that_it_imports(stage: Stage) -> None:
    assert fingerprint(*stage.modules) == stage.sources
    assert set(stage.modules) <= stage.sources.keys()
    assert stage.sources is stage.sources, "worked out once"


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_its_versions_are_the_installed_ones(stage: Stage) -> None:
    assert {package: version(package) for package in stage.packages} == stage.versions


def test_a_package_that_is_not_here_is_said_to_be_missing() -> None:
    """`status` is asked in environments without llama.cpp, too."""
    assert Stage(name="x", modules=(), packages=("no-such-package",)).versions == {"no-such-package": "not installed"}


def test_no_inference_depends_on_a_parser() -> None:
    """So a changed parser asks no model again."""
    parser = {"samequantity.domain.answers", "samequantity.domain.rewriting", "samequantity.stages.parse"}

    assert set() == parser & STAGES["infer"].sources.keys()
    assert "samequantity.domain.answers" in STAGES["parse"].sources.keys() & STAGES["audit"].sources.keys()
