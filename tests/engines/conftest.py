"""The tiny models."""

from fixtures_gguf import random_model, read_here, scripted_model

__all__ = ["random_model", "read_here", "scripted_model"]
