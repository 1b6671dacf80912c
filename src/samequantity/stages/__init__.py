"""One module a stage, which says so in its first line, and what several share: tables in, tables out.

    questions                        what parse and audit need of the views
    outcomes, measures, statistics   what score and bootstrap count, each formula once
    results, captions, tabular       what tables and figures show
    difference                       two tables of answers compared; no stage of the pipeline
    messages                         words that several messages share

Knows no path, no store and no engine.
"""
