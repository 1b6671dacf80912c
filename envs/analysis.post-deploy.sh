#!/usr/bin/env bash
# Snakemake runs this once in the new environment, from the project's root.
set -euo pipefail
pip install --no-deps --editable .
