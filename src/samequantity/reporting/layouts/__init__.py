"""How each table is laid out, one module a group of tables: results in, a `Table` out."""
