rule render:
    input:
        bases="results/{study}/bases.parquet",
        benchmark=config["benchmark"],
        wording=config["wording"],
    output:
        views="results/{study}/views.parquet",
        exported="results/{study}/views_benchmark.jsonl",
        digest="results/{study}/views_benchmark.jsonl.sha256",
        manifest="results/{study}/views.manifest.json",
    log:
        "results/logs/{study}/render.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("render"),
        store=config["store"],
    shell:
        "samequantity --log {log} render --bases {input.bases} --benchmark {input.benchmark:q}"
        " --wording {input.wording:q} --out {output.views} --jsonl {output.exported} --store {params.store:q}"
