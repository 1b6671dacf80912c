"""Loads a model into llama.cpp and builds its samplers, every parameter that matters set by us."""

import ctypes
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from samequantity.domain.exchange import Sampling
from samequantity.engines.llama.library import Device, quiet_log
from samequantity.engines.llama.settings import ALL_LAYERS, LlamaSettings
from samequantity.errors import ModelError

KV_TYPE = "f16"
"""Of the cache of keys and values; no setting changes it."""

_OFFLOADED = re.compile(r"offloaded (?P<on>[1-9][0-9]*)/(?P<all>[0-9]+) layers to GPU")


def offloaded_layers(log: str) -> str | None:
    """What llama.cpp's log of loading says of layers on a GPU: `29/29`, or None for no layer."""
    found = _OFFLOADED.search(log)
    return f"{found['on']}/{found['all']}" if found else None


def enough_layers(offloaded: str | None, wanted: int) -> bool:
    """Whether the layers on a GPU, as `20/29`, are those that `gpu_layers` asks for: all, or so many of them."""
    if offloaded is None:
        return False
    on, total = map(int, offloaded.split("/"))
    return on == total or on >= wanted != ALL_LAYERS


class Handles:
    """The library's model and context, freed once, in the right order."""

    def __init__(self) -> None:
        self.model: Any = None
        self.context: Any = None
        self.offloaded: str | None = None
        """Layers on a GPU and in all, as `29/29`; None without one."""

    def load(self, settings: LlamaSettings, path: Path, used: list[Device], threads: int) -> None:
        """Load the model on the devices `used` and make its context. Raises ModelError."""
        import llama_cpp.llama_cpp as lib

        log = quiet_log()
        log.clear()
        self.model = load_on(used, settings.gpu_layers, str(path))
        if not self.model:
            raise ModelError(f"{path}: llama.cpp cannot load it.\n{log.tail()}")
        if settings.backend != "cpu":
            self.offloaded = offloaded_layers(log.text())
            if not enough_layers(self.offloaded, settings.gpu_layers):
                self.free()
                raise ModelError(
                    f"{path}: llama.cpp put {self.offloaded or 'none'} of the layers on the declared backend"
                    f" {settings.backend}, but gpu_layers is {settings.gpu_layers} (-1: all). Free the device's memory"
                    f" or take a larger one, or set another gpu_layers (another study: answers differ).\n{log.tail()}"
                )
        self.context = lib.llama_init_from_model(self.model, _context_parameters(settings, threads))
        if not self.context:
            self.free()
            raise ModelError(
                f"{path}: no context of {settings.context} tokens can be made; is there memory enough?\n{log.tail()}"
            )

    def sizes(self) -> dict[str, object]:
        """Tokens of the context and of the batches as the library has them, which may round what it was told."""
        import llama_cpp.llama_cpp as lib

        if not self.context:
            return {}
        return {
            "context": lib.llama_n_ctx(self.context),
            "batch": lib.llama_n_batch(self.context),
            "ubatch": lib.llama_n_ubatch(self.context),
        }

    def free(self) -> None:
        """Give everything back; a second call does nothing."""
        import llama_cpp.llama_cpp as lib

        if self.context:
            lib.llama_free(self.context)
        if self.model:
            lib.llama_model_free(self.model)
        self.model = self.context = None


def load_on(used: Sequence[Device], layers: int, path: str, *, checked: bool = False) -> Any:
    """The library's model, with `layers` on the devices `used`, none for the CPU alone; None when it cannot be loaded.

    `checked` has the library look at every block of weights for values that are no numbers, and leaves the weights in
    the file as they are, since copies in another order cost as much memory again.
    """
    import llama_cpp.llama_cpp as lib

    parameters = lib.llama_model_default_params()
    # The list ends with a null. An empty one keeps a GPU build on the CPU, its large products included.
    listed = (ctypes.c_void_p * (len(used) + 1))(*[device.handle for device in used], None)
    parameters.devices = ctypes.cast(listed, ctypes.c_void_p)
    parameters.n_gpu_layers = layers
    if checked:
        parameters.check_tensors = True
        parameters.load_mode = lib.LLAMA_LOAD_MODE_MMAP
        parameters.use_extra_bufts = False
    return lib.llama_model_load_from_file(path.encode(), parameters)


def load_vocabulary(path: str) -> Any:
    """The library's model without its weights: vocabulary and head; None when it cannot be loaded."""
    quiet_log()
    import llama_cpp.llama_cpp as lib

    parameters = lib.llama_model_default_params()
    parameters.vocab_only = True
    parameters.n_gpu_layers = 0
    return lib.llama_model_load_from_file(path.encode(), parameters)


def _context_parameters(settings: LlamaSettings, threads: int) -> Any:
    import llama_cpp.llama_cpp as lib

    on_gpu = settings.backend != "cpu"
    parameters = lib.llama_context_default_params()
    parameters.n_ctx = settings.context
    parameters.n_batch = settings.batch
    parameters.n_ubatch = settings.ubatch
    parameters.n_seq_max = settings.parallel
    parameters.n_outputs_max = settings.parallel  # only a sequence's last token is looked at: saves 300 MB
    parameters.n_threads = parameters.n_threads_batch = threads
    parameters.flash_attn_type = (
        lib.LLAMA_FLASH_ATTN_TYPE_ENABLED if settings.flash_attention else lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
    )
    parameters.type_k = parameters.type_v = lib.GGML_TYPE_F16
    parameters.offload_kqv = parameters.op_offload = on_gpu
    parameters.swa_full = True
    parameters.kv_unified = False
    parameters.embeddings = False
    parameters.no_perf = True
    return parameters


def sampler_chain(sampling: Sampling) -> Any:
    """A fresh chain, so that no answer depends on an earlier one: greedy, or top-k, top-p, temperature, draw."""
    import llama_cpp.llama_cpp as lib

    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    if sampling.greedy:
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_greedy())
        return chain
    if sampling.top_k:
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_k(sampling.top_k))
    if sampling.top_p < 1:
        lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_top_p(sampling.top_p, 1))
    lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_temp(sampling.temperature))
    lib.llama_sampler_chain_add(chain, lib.llama_sampler_init_dist(sampling.seed))
    return chain
