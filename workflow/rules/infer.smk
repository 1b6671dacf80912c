rule infer:
    input:
        views="results/{study}/views.parquet",
        model=model_input,
    output:
        part="results/{study}/parts/{system}/{shard}-of-{shards}.parquet",
        manifest="results/{study}/parts/{system}/{shard}-of-{shards}.manifest.json",
    log:
        "results/logs/{study}/infer/{system}-{shard}-of-{shards}.log",
    wildcard_constraints:
        system=among(ASKED),
    conda:
        inference_environment
    # Two runs on one machine slow each other down several times, so an inference job takes all the cores there are.
    threads: all_cores()
    resources:
        gpu=resource("gpus"),
        mem_mb=resource("memory_mb"),
        runtime=resource("minutes"),
    params:
        *source("infer"),
        model=model_option,
        settings=engine_settings,
        pins=config["models"],
        folder=config["models_folder"],
        store=config["store"],
    shell:
        "samequantity --log {log} infer --views {input.views} --system {wildcards.system}"
        " {params.model} --models-file {params.pins:q} --folder {params.folder:q}"
        " --settings {params.settings:q} --part {wildcards.shard}/{wildcards.shards}"
        " --journal results/{wildcards.study}/journal/{wildcards.system}"
        " --out {output.part} --store {params.store:q}"


rule merge:
    input:
        views="results/{study}/views.parquet",
        parts=parts,
    output:
        responses="results/{study}/responses/{system}.parquet",
        manifest="results/{study}/responses/{system}.manifest.json",
    log:
        "results/logs/{study}/merge/{system}.log",
    wildcard_constraints:
        system=among(ASKED),
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("collect"),
        store=config["store"],
    shell:
        "samequantity --log {log} merge --views {input.views} --out {output.responses}"
        " --store {params.store:q} {input.parts}"
