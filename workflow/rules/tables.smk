rule tables:
    input:
        scores="results/{study}/scores.parquet",
        intervals="results/{study}/intervals.parquet",
        comparisons=comparisons_table(),
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
        comparisons=comparisons_option(),
        systems=expand("--system {system}", system=SYSTEMS),
        store=config["store"],
    shell:
        "samequantity --log {log} tables --scores {input.scores} --intervals {input.intervals}"
        " {params.comparisons} {input.comparisons} --published {input.published}"
        " {params.systems} --out {output} --store {params.store:q}"
