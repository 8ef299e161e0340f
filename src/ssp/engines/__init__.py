"""Engines sample from the policy: `local` (in this process), `scripted` (for tests and docs)."""
