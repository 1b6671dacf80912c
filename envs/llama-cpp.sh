#!/usr/bin/env bash
# Builds the locked llama-cpp-python from its source distribution into the current environment.
# Usage: envs/llama-cpp.sh [further cmake options, such as -DGGML_CUDA=on]
#
# Left out, as nothing here uses it: images (LLAVA), llama.cpp's own downloads (OpenSSL) and its command-line helpers.
# The package forces those helpers on in cmake's cache; a plain variable set by an included file shadows it.
#
# Kept besides, since the installed package has none of it: the chat templates and the vocabulary of the real models
# that come with the sources, in share/llama.cpp of the environment. The tests render and read them.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo 'set(LLAMA_BUILD_COMMON OFF)' > "$work/no-common.cmake"
awk '/^[a-z0-9]/ { wanted = /^llama-cpp-python==/ } wanted' "$root/requirements.lock" > "$work/requirements.txt"

# Downloaded once and held to its digest: what is kept and what is built are the same sources.
pip() { python -m pip "$1" --quiet --disable-pip-version-check --no-deps --no-build-isolation "${@:2}"; }
pip download --no-binary llama-cpp-python --require-hashes --requirement "$work/requirements.txt" --dest "$work"

python - "$work"/llama_cpp_python-*.tar.gz <<'PYTHON'
import sys
import tarfile
from pathlib import Path, PurePosixPath

share = Path(sys.prefix, "share", "llama.cpp")
with tarfile.open(sys.argv[1]) as sources:
    for member in sources:
        path = PurePosixPath(member.name)
        if path.match("vendor/llama.cpp/models/templates/*.jinja"):
            kept = share / "templates" / path.name
        elif path.match("vendor/llama.cpp/models/ggml-vocab-qwen35.gguf"):
            kept = share / "vocabularies" / path.name
        else:
            continue
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(sources.extractfile(member).read())
PYTHON

export CMAKE_ARGS="-DLLAVA_BUILD=OFF -DLLAMA_OPENSSL=OFF -DCMAKE_PROJECT_INCLUDE=$work/no-common.cmake $*"
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}"
# No cache: a wheel that was built with other options must not come back.
pip install --force-reinstall --no-cache-dir "$work"/llama_cpp_python-*.tar.gz
