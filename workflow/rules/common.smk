"""What the rules share: names of files, settings of stages, and the constraints of wildcards."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import yaml

from samequantity.models.naming import is_file_path
from samequantity.registry import STAGES

STUDY = config["study"]
SYSTEMS = config["systems"]
PAIRS = [(pair["system"], pair["reference"]) for pair in config["comparisons"]]
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"

# Systems whose responses were made elsewhere; those that we ask; of these, those whose model is here and not behind a
# server; those whose vocabulary is mapped; and those that are asked a second time.
TRANSCRIPTS = [name for name in SYSTEMS if "transcript" in config["catalogue"][name]]
ASKED = [name for name in SYSTEMS if name not in TRANSCRIPTS]
LOCAL = [name for name in ASKED if config["catalogue"][name]["model"] is not None]
MAPPED = LOCAL if config["tokenizer_maps"] else []
REPEATED = ASKED if config["repeat_prompts"] != 0 else []


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


def among(systems):
    """A pattern that matches the names of these systems alone, or nothing if there are none."""
    return "|".join(map(re.escape, systems)) or r"(?!)"


def model_of(name):
    """A system's model: a name among the pins, or the path of a file of the user's own; None for a server."""
    return system_config(name)["model"]


def pin_of(wildcards):
    """What the file of pinned models says of a model, as one sorted text."""
    models = yaml.safe_load(Path(config["models"]).read_text(encoding="utf-8"))["models"]
    return json.dumps(models[wildcards.model], sort_keys=True)


def model_input(wildcards):
    """What must be there before a system is asked: the receipt of its fetched model, its own file, or nothing."""
    model = model_of(wildcards.system)
    if model is None:
        return []
    return model if is_file_path(model) else f"results/{wildcards.study}/models/{model}.json"


def model_option(wildcards):
    """The option that names a system's model."""
    model = model_of(wildcards.system)
    return "" if model is None else f"--model {shlex.quote(model)}"


def resource(key):
    """A function that gives one of a system's resources."""
    return lambda wildcards: system_config(wildcards.system)["resources"][key]


def inference_environment(wildcards):
    """The conda environment that asks a system, built for its backend."""
    backend = system_config(wildcards.system)["settings"].get("backend")
    return f"../../envs/inference{'-cuda' if backend == 'cuda' else ''}.yaml"


def transcript_options(wildcards):
    """How a system's transcript is read."""
    entry = system_config(wildcards.system)
    options = ["--reasoning-format", entry["reasoning_format"]]
    for name, there in sorted(entry["columns"].items()):
        options += ["--column", f"{name}={there}"]
    for word, meaning in sorted(entry["finish"].items()):
        options += ["--finish", f"{word}={meaning}"]
    options += ["--finish-reason", entry["finish_reason"]] if entry["finish_reason"] is not None else []
    options += ["--allow-missing"] if entry["allow_missing"] else []
    return shlex.join(options)


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
    tables = ["bases.parquet", "views.parquet", "scores.parquet", "intervals.parquet", "runtime.md"]
    of_systems = [f"models/{model_of(system)}.json" for system in LOCAL if not is_file_path(model_of(system))]
    of_systems += [part for system in ASKED for part in parts_of(system)]
    of_systems += expand(
        "{table}/{system}.parquet",
        table=["responses", "answers", "audits", "scores", "intervals"],
        system=SYSTEMS,
    )
    of_systems += expand("tokens/{system}.{table}", system=MAPPED, table=["parquet", "prompts.parquet"])
    of_systems += expand("{table}/{system}.parquet", table=["repeats", "again"], system=REPEATED)
    tables += ["tokens.parquet"] if MAPPED else []
    tables += ["repeats.parquet"] if REPEATED else []
    of_pairs = ["comparisons.parquet"] if PAIRS else []
    of_pairs += [f"comparisons/{system}/{reference}.parquet" for system, reference in PAIRS]
    return [study(path) for path in [*tables, *of_systems, *of_pairs, "tables", "figures"]]


def collected(wildcards):
    """The tables that become one of the study: of each system, or of each pair that is compared."""
    names = {
        "comparisons": [f"{system}/{reference}" for system, reference in PAIRS],
        "tokens": MAPPED,
        "repeats": REPEATED,
    }.get(wildcards.table, SYSTEMS)
    return expand("results/{study}/{table}/{name}.parquet", study=wildcards.study, table=wildcards.table, name=names)


def sample_option():
    """How many bases of each template the study keeps."""
    sample = config["sample"]
    return "" if sample is None else f"--sample '{json.dumps(sample, sort_keys=True)}'"


def complete_option():
    """Whether bases that lack a response are left out."""
    return "--complete-orbits-only" if config["complete_orbits_only"] else ""


def beside():
    """The study's tables that stand beside its scores, by the option that takes them, as far as there are any."""
    present = {"comparisons": PAIRS, "tokens": MAPPED, "repeats": REPEATED}
    return {name: f"results/{{study}}/{name}.parquet" for name, owners in present.items() if owners}


def beside_options():
    """Those tables as options."""
    return [f"--{name} {study(f'{name}.parquet')}" for name in beside()]


def all_cores():
    """The cores of this run; 1 where none is given, as for a report or a summary, which run no job."""
    return workflow.resource_settings.cores or 1


def refuse_without_gpu():
    """Stop before anything is fetched or asked when this machine is to ask a system for which it has no GPU.

    A scheduler's nodes may have one, and a run that asks nothing needs none. Raises WorkflowError.
    """
    asks = {job.wildcards.system for job in workflow.dag.needrun_jobs() if job.rule.name in ("infer", "ask_again")}
    backends = {name: system_config(name)["settings"].get("backend", "cpu") for name in LOCAL if name in asks}
    program = shutil.which("samequantity")
    if not workflow.local_exec or program is None:
        return
    for backend in sorted(set(backends.values()) - {"cpu"}):
        looked = subprocess.run([program, "devices", "--require", backend], capture_output=True, text=True)
        if looked.returncode != 0:
            names = [name for name, wanted in backends.items() if wanted == backend]
            raise WorkflowError(
                f"This study needs a GPU that this machine cannot give: {', '.join(names)}.\n"
                f"{looked.stderr.strip().removeprefix('samequantity: ')}\n"
                "Nothing was downloaded or asked. Two ways on:\n"
                "  the demo     make demo: the same benchmark in small, with a model that runs on this processor\n"
                "  the cluster  snakemake --executor slurm --jobs 8: each system becomes a job on a node with a GPU"
            )


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
