rule collect:
    input:
        collected,
    output:
        table="results/{study}/{table}.parquet",
        manifest="results/{study}/{table}.manifest.json",
    log:
        "results/logs/{study}/collect/{table}.log",
    wildcard_constraints:
        table="scores|intervals|comparisons|tokens|repeats",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("collect"),
        store=config["store"],
    shell:
        "samequantity --log {log} collect --out {output.table} --store {params.store:q} {input}"
