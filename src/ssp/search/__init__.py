"""Search: corpora, indexes, searchers, and the service around them."""
