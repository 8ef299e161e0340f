"""The paper's comparisons, to be run again by one command each."""
