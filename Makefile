# Two commands matter: `make train` and `make test`. Both set up .venv on first use.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: train test lint bench docs clean
.DELETE_ON_ERROR:

train: .venv/.core
	$(BIN)/ssp train

test: .venv/.dev
	$(BIN)/python -m pytest

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.bench
	$(BIN)/python -m bench

docs: .venv/.dev
	$(BIN)/python -m scripts.reference
	$(BIN)/python -m scripts.picture

clean:
	rm -rf .venv

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ssp needs Python 3.11 or newer; say which with: make PYTHON=python3.12 ..." >&2; exit 2; }
	$(PYTHON) -m venv .venv

.venv/.core: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

.venv/.dev: .venv/.core
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev,dense,track]'
	@touch $@

.venv/.bench: .venv/.dev
	$(PIP) install --quiet --constraint constraints.txt tantivy trl
	@touch $@
