# A second answer that came from the store would prove nothing of determinism, so the first rule has no store.
rule ask_again:
    input:
        views="results/{study}/views.parquet",
        model=model_input,
    output:
        responses="results/{study}/again/{system}.parquet",
        manifest="results/{study}/again/{system}.manifest.json",
    log:
        "results/logs/{study}/ask_again/{system}.log",
    wildcard_constraints:
        system=among(REPEATED),
    conda:
        inference_environment
    threads: all_cores()
    resources:
        gpu=resource("gpus"),
        mem_mb=resource("memory_mb"),
        runtime=resource("minutes"),
    params:
        *source("infer"),
        model=model_option,
        settings=engine_settings,
        prompts="" if config["repeat_prompts"] is None else f"--prompts {config['repeat_prompts']}",
        pins=config["models"],
        folder=config["models_folder"],
    shell:
        "samequantity --log {log} infer --views {input.views} --system {wildcards.system}"
        " {params.model} --models-file {params.pins:q} --folder {params.folder:q}"
        " --settings {params.settings:q} --repeat 1 {params.prompts}"
        " --journal results/{wildcards.study}/journal/{wildcards.system} --out {output.responses}"


rule repeat:
    input:
        views="results/{study}/views.parquet",
        responses="results/{study}/responses/{system}.parquet",
        again="results/{study}/again/{system}.parquet",
    output:
        repeats="results/{study}/repeats/{system}.parquet",
        manifest="results/{study}/repeats/{system}.manifest.json",
    log:
        "results/logs/{study}/repeat/{system}.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("repeat"),
        asterisk=config["audit"]["asterisk_between_digits"],
        store=config["store"],
    shell:
        "samequantity --log {log} repeat --views {input.views} --responses {input.responses}"
        " --again {input.again}"
        " --asterisk-between-digits {params.asterisk} --out {output.repeats} --store {params.store:q}"
