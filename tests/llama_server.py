"""A real llama.cpp server (xllamacpp) in a process of its own, and a comparison of it with llama.cpp in this process.

`python tests/llama_server.py '{"model": FILE, …}'` serves one model at a free port until its input ends.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import httpx2
import polars as pl

from samequantity.domain.exchange import Completion, Request
from samequantity.engines.endpoint.engine import EndpointEngine
from samequantity.engines.llama.engine import LlamaEngine
from samequantity.stages.audit import audit
from samequantity.stages.infer import Decoding, infer
from samequantity.stages.parse import parse

LIMIT_SECONDS = 60
"""For one answer about tokens, and for the end of the process."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How the server computes; as the settings of our own engine, and as plainly."""

    model: str
    alias: str
    context: int = 1024
    batch: int = 512
    ubatch: int = 512
    threads: int = 1
    parallel: int = 1
    api_key: str | None = None


def main(options: Options) -> None:
    """Serve until standard input ends; the first line of output that begins with ADDRESS is where."""
    import xllamacpp

    told = xllamacpp.CommonParams()
    told.model.path = options.model
    told.model_alias = {options.alias}
    told.n_ctx = options.context * options.parallel
    told.n_batch, told.n_ubatch = options.batch, options.ubatch
    told.n_parallel = options.parallel
    told.n_gpu_layers = 0
    told.cpuparams.n_threads = told.cpuparams_batch.n_threads = options.threads
    told.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    told.fit_params = False
    told.warmup = False
    told.api_keys = [options.api_key] if options.api_key else []
    server = xllamacpp.Server(told)
    print(f"ADDRESS {server.listening_address}", flush=True)
    sys.stdin.read()


@contextmanager
def llama_server(options: Options) -> Iterator[str]:
    """The address of a running server, without /v1, until the end of the block."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, __file__, json.dumps(asdict(options))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={"PYTHONPATH": ":".join(sys.path)},
        )
        assert process.stdout is not None
        try:
            said = iter(process.stdout.readline, "")
            address = next((line.split()[1] for line in said if line.startswith("ADDRESS ")), None)
            if address is None:
                log.seek(0)
                raise RuntimeError(f"the server did not start:\n{log.read()[-2000:]}")
            yield address
        finally:
            try:
                process.communicate("", timeout=LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One view asked in process and through the server: token ids of the prompts, completions, audited answers."""

    view_id: str
    tokens: tuple[list[int], list[int]]
    completions: tuple[Completion, Completion]
    answers: tuple[tuple[str, str | None], tuple[str, str | None]]
    """Audited status and value."""

    @property
    def same_tokens(self) -> bool:
        """Also as many as the server counted when it answered, which it does not show."""
        return self.tokens[0] == self.tokens[1] and len(self.tokens[1]) == self.completions[1].prompt_tokens

    @property
    def same_text(self) -> bool:
        return self.completions[0].text == self.completions[1].text

    @property
    def same_answer(self) -> bool:
        return self.answers[0] == self.answers[1]


class _Kept:
    """A journal in memory, and a progress that says nothing."""

    def __init__(self) -> None:
        self.known: dict[str, Completion] = {}

    def find(self, request: str) -> Completion | None:
        return self.known.get(request)

    def append(self, request: str, response: Completion) -> None:
        self.known[request] = response

    def start(self, *, total: int, known: int) -> None: ...

    def answered(self, completion: Completion) -> None: ...

    def finish(self) -> None: ...


def compare(
    views: pl.DataFrame, local: LlamaEngine, server: EndpointEngine, address: str, decoding: Decoding
) -> list[Pair]:
    """Ask both engines every view, which are to have distinct prompts. `address` is the server's, without /v1."""
    judged, completions = [], []
    for system, engine in (("in process", local), ("server", server)):
        kept = _Kept()
        responses = infer(views, engine, kept, system=system, decoding=decoding, progress=kept).responses
        answers = parse(views, responses, system)
        audits = audit(views, responses, answers, system)
        judged.append(dict(zip(audits["view_id"], audits.select("status", "value").rows(), strict=True)))
        completions.append(kept.known.values())
    return [
        Pair(
            view_id=view,
            tokens=(tokens_in_process(local, prompt, decoding), tokens_of_server(address, prompt)),
            completions=pair,
            answers=(judged[0][view], judged[1][view]),
        )
        for view, prompt, pair in zip(views["view_id"], views["prompt"], zip(*completions, strict=True), strict=True)
    ]


def tokens_in_process(engine: LlamaEngine, prompt: str, decoding: Decoding) -> list[int]:
    """The token ids that our engine decodes for a prompt."""
    request = Request(prompt=prompt, max_tokens=decoding.max_tokens, sampling=decoding.sampling)
    return engine._prompt(request).tokens


def tokens_of_server(address: str, prompt: str) -> list[int]:
    """The token ids that the server makes of a message, by its own template and vocabulary."""
    message = {"messages": [{"role": "user", "content": prompt}]}
    rendered = _post(f"{address}/apply-template", message)["prompt"]
    asked = {"content": rendered, "add_special": True, "parse_special": True}
    tokens: list[int] = _post(f"{address}/tokenize", asked)["tokens"]
    return tokens


def _post(address: str, body: Mapping[str, object]) -> Any:
    response = httpx2.post(address, json=body, timeout=LIMIT_SECONDS, trust_env=False)
    response.raise_for_status()
    return response.json()


def report(pairs: list[Pair]) -> str:
    """The counts, and every pair that differs."""
    lines = [
        f"{name:24} {sum(same):3}/{len(pairs)}"
        for name, same in (
            ("equal prompt token ids", [pair.same_tokens for pair in pairs]),
            ("byte-identical texts", [pair.same_text for pair in pairs]),
            ("identical answers", [pair.same_answer for pair in pairs]),
        )
    ]
    for pair in pairs:
        if pair.same_tokens and pair.same_text and pair.same_answer:
            continue
        lines += ["", pair.view_id + ("" if pair.same_tokens else " (other prompt token ids)")]
        for name, completion, (status, value) in zip(
            ("in process", "server"), pair.completions, pair.answers, strict=True
        ):
            lines.append(f"  {name:10} {status} {value or '–'} {completion.text!r}")
    return "\n".join(lines)


if __name__ == "__main__":
    main(Options(**json.loads(sys.argv[1])))
