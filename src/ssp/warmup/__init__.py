"""The warm-up: a stand-in for pre-training. Reading is taught well, searching only by its format (docs/warmup.md)."""
