rule figures:
    input:
        scores="results/{study}/scores.parquet",
        intervals="results/{study}/intervals.parquet",
    output:
        report(
            directory("results/{study}/figures"),
            patterns=["{name}.svg"],
            caption="../report/figures.rst",
            category="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        "results/logs/{study}/figures.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("figures"),
        systems=expand("--system {system}", system=SYSTEMS),
        store=config["store"],
    shell:
        "samequantity --log {log} figures --scores {input.scores} --intervals {input.intervals}"
        " {params.systems} --out {output} --store {params.store:q}"
