rule audit:
    input:
        views="results/{study}/views.parquet",
        responses="results/{study}/responses/{system}.parquet",
        answers="results/{study}/answers/{system}.parquet",
    output:
        audits="results/{study}/audits/{system}.parquet",
        manifest="results/{study}/audits/{system}.manifest.json",
    log:
        "results/logs/{study}/audit/{system}.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("audit"),
        asterisk=config["audit"]["asterisk_between_digits"],
        store=config["store"],
    shell:
        "samequantity --log {log} audit --views {input.views} --responses {input.responses}"
        " --answers {input.answers} --system {wildcards.system}"
        " --asterisk-between-digits {params.asterisk} --out {output.audits} --store {params.store:q}"
