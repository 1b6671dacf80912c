rule score:
    input:
        views="results/{study}/views.parquet",
        answers="results/{study}/answers/{system}.parquet",
        audits="results/{study}/audits/{system}.parquet",
        responses="results/{study}/responses/{system}.parquet",
    output:
        scores="results/{study}/scores/{system}.parquet",
        manifest="results/{study}/scores/{system}.manifest.json",
    log:
        "results/logs/{study}/score/{system}.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("score"),
        complete=complete_option(),
        store=config["store"],
    shell:
        "samequantity --log {log} score --views {input.views} --answers {input.answers}"
        " --audits {input.audits} --responses {input.responses} {params.complete} --out {output.scores} --store {params.store:q}"
