"""What a models file promises: models, files, digests and sources; and filling in what it leaves empty."""
