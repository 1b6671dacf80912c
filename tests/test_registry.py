"""The registry names each stage's code and packages, for keys, status and Snakemake."""

from importlib.metadata import version

import pytest

from samequantity.registry import STAGES, Stage
from samequantity.store.fingerprints import fingerprint


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


def test_neither_inference_nor_collecting_depends_on_a_parser() -> None:
    """So a changed parser asks no model again, and puts no shards together again."""
    parser = {"samequantity.domain.answers", "samequantity.domain.rewriting", "samequantity.stages.parse"}

    assert set() == parser & STAGES["infer"].sources.keys()
    assert set() == parser & STAGES["collect"].sources.keys()
    assert "samequantity.domain.answers" in STAGES["parse"].sources.keys() & STAGES["audit"].sources.keys()


def test_an_imported_transcript_does_not_depend_on_how_a_model_is_asked() -> None:
    asking = {"samequantity.stages.infer", "samequantity.stages.asking"}

    assert asking <= STAGES["infer"].sources.keys()
    assert set() == asking & STAGES["import"].sources.keys()
