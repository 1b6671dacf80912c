"""llama.cpp in this process, through the plain C interface of llama-cpp-python: nothing is left to a default.

Its class `Llama` is not used: it takes misspelt options in silence, keeps the beginning of the previous prompt even
when told to reset, penalises repetition by default, and cuts long pieces of text.
"""

import time
from pathlib import Path

from samequantity.domain.exchange import Completion, Request, finish_reason
from samequantity.engines.base import Closing, Facts, Notice, tell
from samequantity.engines.channels import left_open, split
from samequantity.engines.llama.chat import ChatTemplate
from samequantity.engines.llama.library import (
    Device,
    backend_devices,
    device_memory,
    devices,
    library_facts,
    nvidia_driver,
    quiet_log,
    system_info,
    threads_of,
)
from samequantity.engines.llama.loading import KV_TYPE, Handles, sampler_chain
from samequantity.engines.llama.probe import probe
from samequantity.engines.llama.prompts import Prompts
from samequantity.engines.llama.settings import LlamaSettings
from samequantity.engines.llama.vocabulary import Rendered, Vocabulary
from samequantity.errors import ModelError

END_TOKEN, LIMIT = "eog", "limit"
"""Our raw finish reasons: the model ended its turn, or it was cut at `max_tokens`."""


def identity_of(settings: LlamaSettings, template: ChatTemplate, model_digest: str) -> Facts:
    """What decides an answer apart from the request: settings, model, template, library."""
    return {
        **settings.engine_facts(),
        "model_digest": model_digest,
        "template_digest": template.digest,
        "kv_type": KV_TYPE,
        **library_facts(),
    }


class LlamaEngine(Closing):
    """One model in one context with one sequence, greedy or sampled from an explicit seed."""

    in_flight = 1

    def __init__(
        self,
        settings: LlamaSettings,
        model: Path,
        model_digest: str,
        *,
        trusted: bool = True,
        notice: Notice = tell,
    ) -> None:
        """Load `model` (the first file of a split one). ModelError when it or its backend cannot be had.

        A file that is not `trusted`, since no pinned digest vouches for it, is first loaded and run by a process of
        its own: llama.cpp ends the process that meets a broken one. More threads than cores work, slowly: one line
        through `notice`.
        """
        self._devices = _declared_devices(settings)  # first, since it costs nothing and a model may cost minutes
        self._handles = Handles()
        self._settings = settings
        self._path = model
        self._prompts = Prompts(settings, probe(model, run=not trusted), model)
        self._identity = identity_of(settings, self._prompts.template, model_digest)
        self._threads = threads_of(settings, notice)
        started = time.perf_counter()
        self._handles.load(settings, model, self._devices, self._threads)
        self._load_seconds = time.perf_counter() - started
        self._vocabulary = Vocabulary(self._handles.model)
        self._held: list[int] = []  # the tokens whose keys and values are in the context

    def identity(self) -> Facts:
        """See `Engine`."""
        return dict(self._identity)

    def host_facts(self) -> Facts:
        """See `Engine`."""
        return {
            "threads": self._threads,
            "in_use": {
                **self._handles.sizes(),
                "kv_type": KV_TYPE,
                "flash_attention": self._settings.flash_attention,
            },
            "offloaded_layers": self._handles.offloaded,
            "devices": [f"{device.name}: {device.description}" for device in self._devices],
            "device_memory_mib": [device_memory(device) >> 20 for device in self._devices],
            "driver": nvidia_driver() if self._settings.backend == "cuda" else None,
            "system_info": system_info(),
            "load_seconds": round(self._load_seconds, 3),
        }

    def prepare(self, request: Request) -> str:
        """See `Engine`."""
        return self._prompt(request).digest

    def complete(self, request: Request) -> Completion:
        """See `Engine`."""
        started = time.perf_counter()
        prompt = self._prompt(request)
        answer, raw_reason = self._generate(prompt.tokens, request)
        form = self._settings.reasoning_format
        raw = self._vocabulary.text(answer)
        # A model that ends its turn inside its reasoning has no answer, but was not cut off: the end token was seen.
        channels = split(
            raw, form, opened=left_open(prompt.text, form), control=self._vocabulary.control_pieces(answer)
        )
        return Completion(
            text=channels.text,
            reasoning=channels.reasoning,
            raw=raw,
            finish_reason=finish_reason(raw_reason),
            raw_finish_reason=raw_reason,
            prompt_sha256=prompt.digest,
            prompt_tokens=len(prompt.tokens),
            completion_tokens=len(answer),
            seconds=time.perf_counter() - started,
        )

    def close(self) -> None:
        """See `Engine`."""
        self._handles.free()

    def _prompt(self, request: Request) -> Rendered:
        """The prompt as the model sees it. ModelError when `Prompts` refuses it, and when it exceeds the context."""
        if self._handles.model is None:
            raise ValueError("the engine is closed")
        prompt = self._prompts.prompt(request.prompt, self._vocabulary)
        needed = len(prompt.tokens) + request.max_tokens
        if needed > self._settings.context:
            raise ModelError(
                f"{self._path}: a prompt of {len(prompt.tokens)} tokens and an answer of up to {request.max_tokens} do"
                f" not fit the context of {self._settings.context}. Raise context to {needed} or more, or lower"
                f" max_tokens. The prompt begins: {request.prompt[:80]!r}"
            )
        return prompt

    def _generate(self, prompt: list[int], request: Request) -> tuple[list[int], str]:
        """The generated tokens, the end token included, and why they ended."""
        import llama_cpp.llama_cpp as lib

        pending = prompt[self._keep_prefix(prompt) :]
        answer: list[int] = []
        sampler = sampler_chain(request.sampling)
        try:
            while True:
                self._decode(pending)
                token = lib.llama_sampler_sample(sampler, self._handles.context, -1)
                answer.append(token)
                if self._vocabulary.ends(token):
                    return answer, END_TOKEN
                if len(answer) == request.max_tokens:
                    return answer, LIMIT
                pending = [token]
        finally:
            lib.llama_sampler_free(sampler)

    def _keep_prefix(self, prompt: list[int]) -> int:
        """How many tokens of the prompt the context holds already; 0, and an empty context, unless asked for."""
        import llama_cpp.llama_cpp as lib

        memory = lib.llama_get_memory(self._handles.context)
        common = 0
        if self._settings.prefix_cache:
            # The last token is always computed: it gives the first answer's probabilities.
            limit = min(len(self._held), len(prompt) - 1)
            common = next((i for i in range(limit) if self._held[i] != prompt[i]), limit)
        # A recurrent model cannot go back to an earlier state and says so.
        if not common or not lib.llama_memory_seq_rm(memory, 0, common, -1):
            lib.llama_memory_clear(memory, True)
            common = 0
        self._held = prompt[:common]
        return common

    def _decode(self, tokens: list[int]) -> None:
        import llama_cpp.llama_cpp as lib

        for start in range(0, len(tokens), self._settings.batch):
            part = tokens[start : start + self._settings.batch]
            given = (lib.llama_token * len(part))(*part)  # the batch holds its address only
            code = lib.llama_decode(self._handles.context, lib.llama_batch_get_one(given, len(part)))
            if code != 0:
                self._held = []
                raise ModelError(f"{self._path}: llama.cpp failed (code {code}).\n{quiet_log().tail()}")
            self._held.extend(part)


def _declared_devices(settings: LlamaSettings) -> list[Device]:
    quiet_log()
    import llama_cpp.llama_cpp as lib

    if settings.backend == "cpu":
        return []
    return backend_devices(settings.backend, devices(), offload=lib.llama_supports_gpu_offload())
