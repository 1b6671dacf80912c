rule runtime:
    input:
        responses=expand("results/{{study}}/responses/{system}.parquet", system=SYSTEMS),
    output:
        page=report("results/{study}/runtime.md", caption="../report/runtime.rst", category="Runtime"),
    log:
        "results/logs/{study}/runtime.log",
    conda:
        "../../envs/analysis.yaml"
    params:
        *source("runtime"),
    shell:
        "samequantity --log {log} runtime --runs results/{wildcards.study}/parts --out {output.page}"
        " {input.responses}"
