"""What the rules share: names of files, settings of stages, and the constraints of wildcards."""

import json
import os
import re
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir).parent / "src"))

from samequantity.registry import STAGES
from samequantity.store.study import RESERVED

STUDY = config["study"]
SYSTEMS = config["systems"]
PAIRS = [(pair["system"], pair["reference"]) for pair in config["comparisons"]]
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"

if STUDY in RESERVED:
    raise WorkflowError(f"config: study: a study cannot be called {STUDY}, which is a folder of the workflow itself")
if unknown := [name for name in SYSTEMS if name not in config["catalogue"]]:
    known = ", ".join(config["catalogue"])
    raise WorkflowError(f"config: systems: no {unknown[0]} in config/systems.yaml, which has {known}")
if strange := [name for pair in PAIRS for name in pair if name not in SYSTEMS]:
    raise WorkflowError(f"config: comparisons: no {strange[0]} in the study's systems, which are {', '.join(SYSTEMS)}")
if alone := [system for system, reference in PAIRS if system == reference]:
    raise WorkflowError(f"config: comparisons: {alone[0]} with itself; name two systems")
if twice := [" with ".join(pair) for pair in PAIRS if PAIRS.count(pair) > 1]:
    raise WorkflowError(f"config: comparisons: {twice[0]} twice; name each pair once")
if absent := [key for key in ("benchmark", "wording", "models", "published") if not Path(config[key]).is_file()]:
    raise WorkflowError(f"config: {absent[0]}: no such file: {config[absent[0]]}")


wildcard_constraints:
    study=re.escape(STUDY),
    system=NAME,
    reference=NAME,
    model=NAME,
    shard=r"[1-9][0-9]*",
    shards=r"[1-9][0-9]*",


def study(path):
    """A file or folder of the study."""
    return f"results/{STUDY}/{path}"


def source(stage):
    """The fingerprints of a stage's modules, one text each, so that a dry run names the module that changed."""
    return [f"{module}@{digest[:16]}" for module, digest in STAGES[stage].sources.items()]


def system_config(name):
    """A system's entry in config/systems.yaml."""
    return config["catalogue"][name]


def engine_settings(wildcards):
    """A system's engine settings as one sorted text: Snakemake compares params as a set of values."""
    return json.dumps(system_config(wildcards.system)["settings"], sort_keys=True)


def parts_of(system):
    """The shards of a system's responses, as places in a study."""
    shards = system_config(system)["shards"]
    return [f"parts/{system}/{shard}-of-{shards}.parquet" for shard in range(1, shards + 1)]


def parts(wildcards):
    """The shards of a system's responses."""
    return expand("results/{study}/{part}", study=wildcards.study, part=parts_of(wildcards.system))


def everything():
    """All that the study makes.

    Each file is asked for by name: a job that fails has lost its outputs, and the next run makes up for it only if they
    are wanted themselves, since what was made from them is still there.
    """
    tables = ["bases.parquet", "views.parquet", "scores.parquet", "intervals.parquet"]
    of_systems = [f"models/{system_config(system)['model']}.json" for system in SYSTEMS]
    of_systems += [part for system in SYSTEMS for part in parts_of(system)]
    of_systems += expand(
        "{table}/{system}.parquet",
        table=["responses", "answers", "audits", "scores", "intervals"],
        system=SYSTEMS,
    )
    of_pairs = ["comparisons.parquet"] if PAIRS else []
    of_pairs += [f"comparisons/{system}/{reference}.parquet" for system, reference in PAIRS]
    return [study(path) for path in [*tables, *of_systems, *of_pairs, "tables", "figures"]]


def collected(wildcards):
    """The tables that become one of the study: of each system, or of each pair that is compared."""
    if wildcards.table == "comparisons":
        names = [f"{system}/{reference}" for system, reference in PAIRS]
    else:
        names = SYSTEMS
    return expand("results/{study}/{table}/{name}.parquet", study=wildcards.study, table=wildcards.table, name=names)


def sample_option():
    """How many bases of each template the study keeps."""
    sample = config["sample"]
    return "" if sample is None else f"--sample '{json.dumps(sample, sort_keys=True)}'"


def complete_option():
    """Whether bases that lack a response are left out."""
    return "--complete-orbits-only" if config["complete_orbits_only"] else ""


def comparisons_table():
    """The study's table of comparisons, if it compares any systems."""
    return ["results/{study}/comparisons.parquet"] if PAIRS else []


def comparisons_option():
    """The option in front of `comparisons_table`."""
    return "--comparisons" if PAIRS else ""


def all_cores():
    """The cores of this run; 1 where none is given, as for a report or a summary, which run no job."""
    return workflow.resource_settings.cores or 1


def how_to_resume():
    """What to type after a run that failed or was killed."""
    files = [
        str(path) for path in workflow.configfiles if str(path) not in ("config/config.yaml", "config/systems.yaml")
    ]
    overrides = [f"{key}={value}" for key, value in workflow.config_settings.config.items()]
    # One --configfile for all: of two, Snakemake takes the last.
    again = ["snakemake", "--cores", "all"]
    again += ["--configfile", *map(os.path.relpath, files)] if files else []
    again += ["--config", *overrides] if overrides else []
    again = shlex.join(again)
    return (
        f"\nSome jobs did not end well; the first message above each failed rule says why. Nothing that is done is lost.\n"
        f"Go on with:                        {again} --rerun-incomplete\n"
        f"If the folder is said to be locked: {again} --unlock"
    )
