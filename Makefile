# The two commands: `make demo` runs the demo on a real model, `make test` runs the tests. Both set up what they need
# in .venv and resources/models, once. `make` alone lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
RUN := PATH="$(BIN):$$PATH"
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
# One run at a time in this checkout. A Snakemake that was killed leaves its lock behind; whoever holds ours may lift it.
ALONE := $(if $(shell command -v flock),flock --no-fork --nonblock --conflict-exit-code 75 $(VENV)/.running)
UNLOCK = [ -z "$$(ls -A .snakemake/locks 2>/dev/null)" ] || snakemake --cores 1 --configfile $(1) --unlock
STUDY = $(RUN) $(ALONE) sh -c '$(call UNLOCK,$(1)); \
    exec snakemake --cores all --rerun-incomplete --show-failed-logs --configfile $(1)' \
    || { [ $$? -ne 75 ] || echo "Another run is going on in this folder."; exit 1; }

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo smoke test cuda bench bench-server lint format lock clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.ready  ## Set up .venv: the locked packages, llama.cpp built from source, this package

demo: $(VENV)/.ready  ## Ask a real model 282 prompts and make tables and figures (results/demo)
	@$(call STUDY,config/demo.yaml)
	@echo
	@echo "figures    results/demo/figures/correctness.png and four more (and .svg)"
	@echo "tables     results/demo/tables/*.md (and .tex, .csv, .parquet)"
	@echo "responses  results/demo/responses/*.parquet"

smoke: $(VENV)/.ready  ## The same workflow on 17 prompts (results/smoke)
	@$(call STUDY,config/smoke.yaml)

test: $(VENV)/.ready  ## Run the tests
	@$(RUN) python -m pytest

cuda: $(VENV)/.ready  ## Build the llama.cpp of .venv anew for NVIDIA GPUs (needs the CUDA toolkit)
	@$(RUN) bash envs/llama-cpp.sh -DGGML_CUDA=on

bench: $(VENV)/.ready  ## Time the statistics on planted answers, beside scipy (a minute)
	@$(RUN) PYTHONPATH=tests python bench/bootstrap.py
	@$(RUN) PYTHONPATH=tests python bench/study.py

bench-server: $(VENV)/.ready  ## Ask the demo's model 50 prompts in process and behind a server, and compare
	@$(RUN) PYTHONPATH=tests python bench/server.py

lint: $(VENV)/.ready  ## Check style and types of the code and of the workflow
	@$(RUN) ruff check
	@$(RUN) ruff format --check
	@$(RUN) mypy
	@$(RUN) snakefmt --check Snakefile workflow
	@$(RUN) snakemake --lint

format: $(VENV)/.ready  ## Format the code and the workflow
	@$(RUN) ruff format
	@$(RUN) snakefmt Snakefile workflow

# Needs uv. The lock holds hashes of every file of a release and no address.
lock:  ## Resolve requirements.lock anew from pyproject.toml
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links --group build --group test --group lint --group cluster \
	    --output-file requirements.lock

# Other studies stay, with the store and the journals behind them: they may have cost days of a GPU.
clean:  ## Remove what set-up and the demo made here, but for the model files
	rm -rf $(VENV) .snakemake results/demo results/smoke results/bench

$(VENV)/.python:
	@echo "Setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "samequantity needs Python 3.11 or later")'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# Everything but llama-cpp-python, which is built below.
$(VENV)/.packages: requirements.lock | $(VENV)/.python
	@echo "Installing the locked packages (about a minute)"
	@awk '/^[a-z0-9]/ { wanted = !/^llama-cpp-python==/ } wanted' requirements.lock > $(VENV)/packages.txt
	@$(PIP) --require-hashes --requirement $(VENV)/packages.txt
	@touch $@

$(VENV)/.llama-cpp: requirements.lock envs/llama-cpp.sh | $(VENV)/.packages
	@echo "Building llama.cpp for this processor (about two minutes on two cores)"
	@$(RUN) bash envs/llama-cpp.sh
	@touch $@

$(VENV)/.ready: pyproject.toml $(VENV)/.packages $(VENV)/.llama-cpp
	@$(PIP) --no-build-isolation --editable .
	@touch $@
