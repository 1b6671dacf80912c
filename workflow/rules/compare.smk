rule compare:
    input:
        views="results/{study}/views.parquet",
        answers="results/{study}/answers/{system}.parquet",
        audits="results/{study}/audits/{system}.parquet",
        reference_answers="results/{study}/answers/{reference}.parquet",
        reference_audits="results/{study}/audits/{reference}.parquet",
    output:
        comparison="results/{study}/comparisons/{system}/{reference}.parquet",
        manifest="results/{study}/comparisons/{system}/{reference}.manifest.json",
    log:
        "results/logs/{study}/compare/{system}/{reference}.log",
    # The figures take longest and do not wait for this, so that what they wait for goes first.
    priority: -1
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("compare"),
        complete=complete_option(),
        seed=config["bootstrap"]["seed"],
        draws=config["bootstrap"]["draws"],
        store=config["store"],
    shell:
        "samequantity --log {log} compare --views {input.views} --answers {input.answers} --audits {input.audits}"
        " --reference-answers {input.reference_answers} --reference-audits {input.reference_audits}"
        " {params.complete} --seed {params.seed} --draws {params.draws}"
        " --out {output.comparison} --store {params.store:q}"
