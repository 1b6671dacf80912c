"""What the tiny models of `tiny_gguf` are made of: vocabularies, weights and chat templates."""
