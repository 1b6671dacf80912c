"""One module a stage: tables in, tables out. Knows no paths, no store and no engine."""
