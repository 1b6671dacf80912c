#!/usr/bin/env bash
# Snakemake runs this once in the new environment, from the project's root.
set -euo pipefail
pip install scikit-build-core==1.1.2
# Head nodes often have no GPU to look at, so the architectures are named: 80 is the A100, 89 the L4 and L40, 90 the H100.
bash envs/llama-cpp.sh -DGGML_CUDA=on "-DCMAKE_CUDA_ARCHITECTURES=80;89;90"
pip install --no-deps --editable .
