"""The tiny models."""

from fixtures_gguf import random_model, scripted_model

__all__ = ["random_model", "scripted_model"]
