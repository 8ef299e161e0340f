"""The game: propose, verify, solve, score (docs/architecture.md)."""
