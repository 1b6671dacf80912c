#!/usr/bin/env bash
# Snakemake runs this once in the new environment, from the project's root.
set -euo pipefail
pip install scikit-build-core==1.1.2
bash envs/llama-cpp.sh
pip install --no-deps --editable .
