"""The generated world: facts, articles, questions, and the oracle that knows the truth."""
