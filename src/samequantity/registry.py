"""The stages of the pipeline by name: which modules decide what each gives, and which packages decide its numbers."""

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version

from samequantity.store.fingerprints import fingerprint


@dataclass(frozen=True, kw_only=True)  # no slots: the sources are worked out once, at the first question
class Stage:
    """One stage. `modules` are the roots of its source fingerprint; `packages` enter its key by version."""

    name: str
    modules: tuple[str, ...]
    packages: tuple[str, ...] = ()

    @cached_property
    def sources(self) -> dict[str, str]:
        """Fingerprint of every first-party module that the stage consists of, by name."""
        return fingerprint(*self.modules)

    @cached_property
    def versions(self) -> dict[str, str]:
        """Installed version of each package that decides the stage's numbers."""
        return {package: _version(package) for package in self.packages}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"  # as llama.cpp where only the analysis is set up, and status is asked


STAGES = {
    stage.name: stage
    for stage in (
        Stage(name="generate", modules=("samequantity.stages.generate",)),
        Stage(name="render", modules=("samequantity.stages.render",)),
        Stage(
            name="infer",
            modules=(
                "samequantity.stages.infer",
                "samequantity.engines.llama.engine",
                "samequantity.engines.endpoint.engine",
            ),
            packages=("llama-cpp-python", "jinja2"),
        ),
        Stage(
            name="tokens",
            modules=("samequantity.stages.tokens", "samequantity.engines.llama.tokenizer"),
            packages=("llama-cpp-python", "jinja2"),
        ),
        Stage(name="import", modules=("samequantity.stages.transcripts", "samequantity.engines.channels")),
        Stage(name="repeat", modules=("samequantity.stages.repeat",)),
        Stage(name="parse", modules=("samequantity.stages.parse",)),
        Stage(name="audit", modules=("samequantity.stages.audit",)),
        Stage(name="score", modules=("samequantity.stages.score",), packages=("scipy",)),
        Stage(name="bootstrap", modules=("samequantity.stages.bootstrap",), packages=("numpy",)),
        Stage(name="compare", modules=("samequantity.stages.compare",), packages=("numpy", "scipy")),
        Stage(name="collect", modules=("samequantity.stages.collect",)),
        Stage(name="tables", modules=("samequantity.stages.tables",)),
        Stage(name="runtime", modules=("samequantity.reporting.runtime",)),
        Stage(name="figures", modules=("samequantity.stages.figures",), packages=("matplotlib",)),
    )
}
