# Two commands: `make sweep` and `make test`. Both make the virtual environment if need be.
# `make test` runs everything on all cores; `make test-fast` what needs no whole program and no embedded model.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: sweep test test-fast lint notebooks docs clean

sweep: $(VENV)/installed
	$(BIN)/python experiments/steer_sweep.py $(ARGS)

# One thread per worker: two workers with two threads each would wait for each other. Compiled tests are kept, whatever
# the shell says: without them every worker spends ten seconds on compiling. A worker that has nothing to do takes tests
# of one that has.
test test-fast: export OMP_NUM_THREADS ?= 1
test test-fast: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal $(ARGS)

test-fast: $(VENV)/installed-dev
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal -m "not slow and not embedded_model" --ignore tests/end_to_end $(ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

notebooks: $(VENV)/installed-dev
	$(BIN)/python scripts/run_notebooks.py $(ARGS)

# Into site/, without a network once the requirements are there; a link that leads nowhere is an error.
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet $(ARGS)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; pass PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: requirements.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -r requirements.txt
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet -r requirements.txt -e ".[dev]"
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet -r requirements.txt -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV)
