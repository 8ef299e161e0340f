"""Answers to propose for: files of them, and mining them from any corpus."""
