rule parse:
    input:
        views="results/{study}/views.parquet",
        responses="results/{study}/responses/{system}.parquet",
    output:
        answers="results/{study}/answers/{system}.parquet",
        manifest="results/{study}/answers/{system}.manifest.json",
    log:
        "results/logs/{study}/parse/{system}.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("parse"),
        store=config["store"],
    shell:
        "samequantity --log {log} parse --views {input.views} --responses {input.responses}"
        " --system {wildcards.system} --out {output.answers} --store {params.store:q}"
