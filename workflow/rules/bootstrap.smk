rule bootstrap:
    input:
        views="results/{study}/views.parquet",
        answers="results/{study}/answers/{system}.parquet",
        audits="results/{study}/audits/{system}.parquet",
    output:
        intervals="results/{study}/intervals/{system}.parquet",
        manifest="results/{study}/intervals/{system}.manifest.json",
    log:
        "results/logs/{study}/bootstrap/{system}.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("bootstrap"),
        complete=complete_option(),
        seed=config["bootstrap"]["seed"],
        draws=config["bootstrap"]["draws"],
        store=config["store"],
    shell:
        "samequantity --log {log} bootstrap --views {input.views} --answers {input.answers}"
        " --audits {input.audits} {params.complete} --seed {params.seed} --draws {params.draws}"
        " --out {output.intervals} --store {params.store:q}"
