"""`python -m ssp`."""

from ssp.cli.main import run

run()
