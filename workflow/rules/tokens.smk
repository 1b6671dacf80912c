rule tokens:
    input:
        bases="results/{study}/bases.parquet",
        views="results/{study}/views.parquet",
        benchmark=config["benchmark"],
        wording=config["wording"],
        model=model_input,
    output:
        tokens="results/{study}/tokens/{system}.parquet",
        prompts="results/{study}/tokens/{system}.prompts.parquet",
        manifest="results/{study}/tokens/{system}.manifest.json",
    log:
        "results/logs/{study}/tokens/{system}.log",
    wildcard_constraints:
        system=among(MAPPED),
    conda:
        "../../envs/inference.yaml"
    params:
        *source("tokens"),
        model=model_option,
        settings=engine_settings,
        pins=config["models"],
        folder=config["models_folder"],
        store=config["store"],
    shell:
        "samequantity --log {log} tokens --bases {input.bases} --views {input.views}"
        " --benchmark {input.benchmark:q} --wording {input.wording:q} --system {wildcards.system}"
        " {params.model} --models-file {params.pins:q} --folder {params.folder:q}"
        " --settings {params.settings:q} --out {output.tokens} --store {params.store:q}"
