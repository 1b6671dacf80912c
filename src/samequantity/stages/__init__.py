"""One module a stage, which says so in its first line: tables in, tables out. Knows no path, no store and no engine.

Beside them: `questions`, what parse and audit need of the views; `matching`, which view a row of a transcript answers;
`writing`, what every view of the bases says; and `difference`, two tables of answers compared.
"""
