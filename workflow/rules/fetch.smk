# The receipt is the output, not the model file: Snakemake removes outputs before it runs a rule again, and a model file
# that is there and right should never be fetched twice.
localrules:
    fetch,


rule fetch:
    input:
        # Another model's pin may change without this one being fetched, and asked, again.
        pins=ancient(config["models"]),
    output:
        receipt="results/{study}/models/{model}.json",
    log:
        "results/logs/{study}/fetch/{model}.log",
    conda:
        "../../envs/inference.yaml"
    params:
        pin=pin_of,
        folder=config["models_folder"],
    shell:
        "samequantity --log {log} models fetch {wildcards.model} --models-file {input.pins:q}"
        " --folder {params.folder:q} --receipt {output.receipt}"
