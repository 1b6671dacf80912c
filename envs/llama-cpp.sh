#!/usr/bin/env bash
# Builds the locked llama-cpp-python from its source distribution into the current environment.
# Usage: envs/llama-cpp.sh [further cmake options, such as -DGGML_CUDA=on]
#
# Left out, as nothing here uses it: images (LLAVA), llama.cpp's own downloads (OpenSSL) and its command-line helpers.
# The package forces those helpers on in cmake's cache; a plain variable set by an included file shadows it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo 'set(LLAMA_BUILD_COMMON OFF)' > "$work/no-common.cmake"
awk '/^[a-z0-9]/ { wanted = /^llama-cpp-python==/ } wanted' "$root/requirements.lock" > "$work/requirements.txt"

export CMAKE_ARGS="-DLLAVA_BUILD=OFF -DLLAMA_OPENSSL=OFF -DCMAKE_PROJECT_INCLUDE=$work/no-common.cmake $*"
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}"
python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-binary llama-cpp-python \
    --require-hashes --requirement "$work/requirements.txt"
