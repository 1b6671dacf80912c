rule generate:
    input:
        benchmark=config["benchmark"],
    output:
        bases="results/{study}/bases.parquet",
        exported="results/{study}/base_benchmark.jsonl",
        digest="results/{study}/base_benchmark.jsonl.sha256",
        manifest="results/{study}/bases.manifest.json",
    log:
        "results/logs/{study}/generate.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("generate"),
        sample=sample_option(),
        store=config["store"],
    shell:
        "samequantity --log {log} generate --benchmark {input.benchmark:q} {params.sample}"
        " --out {output.bases} --jsonl {output.exported} --store {params.store:q}"
