"""How results are shown: gathered, captioned and written as tables."""
