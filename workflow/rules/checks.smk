"""What the schema cannot say of a configuration: names that must be there, and entries that must fit each other."""

from pathlib import Path

import yaml

from samequantity.models.naming import is_file_path
from samequantity.store.study import RESERVED

_CATALOGUE, _SYSTEMS = config["catalogue"], config["systems"]
_PAIRS = [(pair["system"], pair["reference"]) for pair in config["comparisons"]]

if config["study"] in RESERVED:
    raise WorkflowError(f"config: study: {config['study']} is a folder of the workflow itself; choose another name")
if absent := [key for key in ("benchmark", "wording", "models", "published") if not Path(config[key]).is_file()]:
    raise WorkflowError(f"config: {absent[0]}: no such file: {config[absent[0]]}")
if unknown := [name for name in _SYSTEMS if name not in _CATALOGUE]:
    known = ", ".join(_CATALOGUE)
    raise WorkflowError(f"config: systems: no {unknown[0]} in config/systems.yaml, which has {known}")
if strange := [name for pair in _PAIRS for name in pair if name not in _SYSTEMS]:
    raise WorkflowError(f"config: comparisons: no {strange[0]} in the study's systems, which are {', '.join(_SYSTEMS)}")
if alone := [system for system, reference in _PAIRS if system == reference]:
    raise WorkflowError(f"config: comparisons: {alone[0]} with itself; name two systems")
if twice := [" with ".join(pair) for pair in _PAIRS if _PAIRS.count(pair) > 1]:
    raise WorkflowError(f"config: comparisons: {twice[0]} twice; name each pair once")

_PINNED = (yaml.safe_load(Path(config["models"]).read_text(encoding="utf-8")) or {}).get("models", {})

for name in _SYSTEMS:
    entry = _CATALOGUE[name]
    if "transcript" in entry:
        continue
    if (entry["model"] is None) != (entry["settings"]["engine"] == "openai"):
        raise WorkflowError(f"config: catalogue.{name}: the engine openai, and no other, has the model null")
    if entry["model"] is None and entry["shards"] != 1:
        raise WorkflowError(f"config: catalogue.{name}: a server has one shard; to ask more at once, set in_flight")
    if entry["model"] is not None and not is_file_path(entry["model"]) and entry["model"] not in _PINNED:
        raise WorkflowError(f"config: catalogue.{name}: no model {entry['model']} in {config['models']}")
