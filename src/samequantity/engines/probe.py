"""Reads what a model file says about itself in a process of its own, since llama.cpp may abort on a broken file.

`python -m samequantity.engines.probe FILE` prints one JSON object; `probe(path)` calls that and survives its death.
"""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import samequantity
from samequantity.errors import ModelError

TIMEOUT_SECONDS = 300
"""A vocabulary is read in well under a second; a slow file system gets its time."""


UNREADABLE = 3
"""The child's exit status for a file that llama.cpp refuses; 1 would be an error of Python's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What is known of a model before its weights are loaded."""

    description: str
    chat_template: str | None
    bos_token: str
    eos_token: str


def probe(model: Path) -> ModelFacts:
    """What the file says about itself. ModelError, naming the file, when it cannot be read as a model."""
    if not model.is_file():
        raise ModelError(f"{model}: no such model file. Correct its path, or fetch it with: samequantity models")
    command = [sys.executable, "-m", "samequantity.engines.probe", str(model)]
    # The child finds this package where we found it, installed or not.
    path = os.pathsep.join([str(Path(samequantity.__file__).parents[1]), *sys.path])
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=TIMEOUT_SECONDS, check=False, env={**os.environ, "PYTHONPATH": path}
        )
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"{model}: not read within {TIMEOUT_SECONDS} s. Is its file system reachable?") from error
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


def _main(path: str) -> int:
    from samequantity.engines.library import quiet_log

    log = quiet_log()
    import llama_cpp.llama_cpp as lib

    parameters = lib.llama_model_default_params()
    parameters.vocab_only = True
    parameters.n_gpu_layers = 0
    model = lib.llama_model_load_from_file(path.encode(), parameters)
    if not model:
        print(log.tail(), file=sys.stderr)
        return UNREADABLE
    vocabulary = lib.llama_model_get_vocab(model)
    template = lib.llama_model_chat_template(model, None)

    def text(token: int) -> str:
        return lib.llama_vocab_get_text(vocabulary, token).decode("utf-8", "replace") if token >= 0 else ""

    facts = {
        "description": _description(model),
        "chat_template": template.decode("utf-8", "replace") if template else None,
        "bos_token": text(lib.llama_vocab_bos(vocabulary)),
        "eos_token": text(lib.llama_vocab_eos(vocabulary)),
    }
    print(json.dumps(facts))
    return 0


def _description(model: int) -> str:
    import ctypes

    import llama_cpp.llama_cpp as lib

    buffer = ctypes.create_string_buffer(256)
    lib.llama_model_desc(model, buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
