"""Pre-trained models: which can be had by name, and getting them."""
