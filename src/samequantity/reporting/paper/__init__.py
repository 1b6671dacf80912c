"""The figures that a paper published, read from a file and held against a study's own."""
