"""Reads what a model file says about itself in a process of its own, since llama.cpp may abort on a broken file.

`python -m samequantity.engines.llama.probe FILE` prints one JSON object; `probe(path)` calls that and survives its end.
With `--run` the weights are loaded too and compute one token: a head that is sound says nothing of them.
"""

import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import samequantity
from samequantity.errors import ModelError

TIMEOUT_SECONDS, RUN_TIMEOUT_SECONDS = 300, 7200
"""A vocabulary is read in well under a second, weights of a hundred gigabytes in minutes; a slow disk gets its time."""

UNREADABLE = 3
"""The child's exit status for a file that llama.cpp refuses; 1 would be an error of Python's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What is known of a model before its weights are loaded."""

    description: str
    chat_template: str | None
    bos_token: str
    eos_token: str


def probe(model: Path, *, run: bool = False) -> ModelFacts:
    """What the file says about itself. ModelError, naming the file, when it cannot be read as a model.

    `run` has the child load every weight and compute a token on the CPU, for a file that nothing vouches for.
    """
    if not model.is_file():
        raise ModelError(f"{model}: no such model file. Correct its path, or fetch it with: samequantity models")
    command = [sys.executable, "-m", "samequantity.engines.llama.probe", str(model), *(["--run"] if run else [])]
    limit = RUN_TIMEOUT_SECONDS if run else TIMEOUT_SECONDS
    # The child finds this package where we found it, installed or not.
    path = os.pathsep.join([str(Path(samequantity.__file__).parents[1]), *sys.path])
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=limit,
            check=False,
            # An abort shall end at once, not wait for a debugger that lists the stack.
            env={**os.environ, "PYTHONPATH": path, "GGML_NO_BACKTRACE": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"{model}: not read within {limit} s. Is its file system reachable?") from error
    if done.returncode == 0:
        return ModelFacts(**json.loads(done.stdout))
    said = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    if done.returncode > 0 and done.returncode != UNREADABLE:
        raise ModelError(
            f"{model}: llama.cpp could not be started to read it. Install the packages of requirements.lock again.\n"
            + "\n".join(said[-6:])
        )
    raise ModelError(
        f"{model}: llama.cpp cannot read it as a GGUF model ({_ending(done.returncode)}). The file is broken, cut off"
        " or of a kind that this version does not know. Remove it and fetch it again.\n" + "\n".join(said[-6:])
    )


def _ending(code: int) -> str:
    if code < 0:
        return f"it died of {signal.Signals(-code).name}"
    return "it refuses the file"


def read_head(path: str) -> ModelFacts | None:
    """What `probe` reads, read by this process: None for a file that is refused, and the end of it for some."""
    from samequantity.engines.llama.loading import load_vocabulary

    model = load_vocabulary(path)
    if not model:
        return None
    import llama_cpp.llama_cpp as lib

    vocabulary = lib.llama_model_get_vocab(model)
    template = lib.llama_model_chat_template(model, None)

    def text(token: int) -> str:
        return lib.llama_vocab_get_text(vocabulary, token).decode("utf-8", "replace") if token >= 0 else ""

    facts = ModelFacts(
        description=_description(model),
        chat_template=template.decode("utf-8", "replace") if template else None,
        bos_token=text(lib.llama_vocab_bos(vocabulary)),
        eos_token=text(lib.llama_vocab_eos(vocabulary)),
    )
    lib.llama_model_free(model)
    return facts


def _main(path: str, *options: str) -> int:
    import resource

    from samequantity.engines.llama.library import quiet_log

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the memory of a large model is nothing to leave behind
    facts = read_head(path)
    failure = _run(path) if facts and "--run" in options else ""
    if facts is None or failure:
        print(quiet_log().tail(), failure, sep="\n", file=sys.stderr)
        return UNREADABLE
    print(json.dumps(asdict(facts)))
    return 0


def _run(path: str) -> str:
    """Load all weights and compute what follows one token; what went wrong, "" for nothing."""
    import llama_cpp.llama_cpp as lib

    from samequantity.engines.llama.loading import load_on

    model = load_on([], 0, path, checked=True)
    if not model:
        return "the weights cannot be loaded"
    parameters = lib.llama_context_default_params()
    parameters.n_ctx, parameters.n_batch, parameters.n_ubatch, parameters.n_seq_max = 256, 32, 32, 1
    context = lib.llama_init_from_model(model, parameters)
    if not context:
        return "no context can be made"
    vocabulary = lib.llama_model_get_vocab(model)
    first = (lib.llama_token * 1)(max(lib.llama_vocab_bos(vocabulary), 0))
    if code := lib.llama_decode(context, lib.llama_batch_get_one(first, 1)):
        return f"a token cannot be computed (code {code})"
    scores = lib.llama_get_logits_ith(context, -1)
    if not all(math.isfinite(scores[token]) for token in range(lib.llama_vocab_n_tokens(vocabulary))):
        return "the weights give scores that are not finite numbers"
    return ""


def _description(model: int) -> str:
    import ctypes

    import llama_cpp.llama_cpp as lib

    buffer = ctypes.create_string_buffer(256)
    lib.llama_model_desc(model, buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
