rule import:
    input:
        views="results/{study}/views.parquet",
        transcript=lambda wildcards: system_config(wildcards.system)["transcript"],
    output:
        responses="results/{study}/responses/{system}.parquet",
        manifest="results/{study}/responses/{system}.manifest.json",
    log:
        "results/logs/{study}/import/{system}.log",
    wildcard_constraints:
        system=among(TRANSCRIPTS),
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("import"),
        options=transcript_options,
        store=config["store"],
    shell:
        "samequantity --log {log} import --views {input.views} --transcript {input.transcript:q}"
        " --system {wildcards.system} {params.options} --out {output.responses} --store {params.store:q}"
