rule tables:
    input:
        *beside().values(),
        scores="results/{study}/scores.parquet",
        intervals="results/{study}/intervals.parquet",
        published=config["published"],
    output:
        report(
            directory("results/{study}/tables"),
            patterns=["{name}.csv"],
            caption="../report/tables.rst",
            category="Tables",
            labels={"table": "{name}"},
        ),
    log:
        "results/logs/{study}/tables.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("tables"),
        beside=beside_options(),
        systems=expand("--system {system}", system=SYSTEMS),
        store=config["store"],
    shell:
        "samequantity --log {log} tables --scores {input.scores} --intervals {input.intervals}"
        " {params.beside} --published {input.published}"
        " {params.systems} --out {output} --store {params.store:q}"
