"""Whether a prediction says the same as a right answer."""
