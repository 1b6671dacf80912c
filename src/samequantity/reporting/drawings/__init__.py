"""The study's figures, one module each: from the results to a matplotlib figure that is written elsewhere."""
