# make demo    train on the project's own phrasebook, see BLEU, translations and attention (a few minutes on two cores)
# make test    everything that a change must pass: style, types, layers, tests
# make test-all  the slow tests too
# make docs    write the pages of docs/reference that come from the code
# make native  compile the C++ that has changed; the other targets do it by themselves
# Each target makes what it needs: the virtual environment is installed once and again only when the pins change.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-all check style docs native clean

demo: native
	TRANSDUCE=$(BIN)/transduce examples/demo.sh demo

test: check
	$(BIN)/python -m pytest -m "not slow"

test-all: check
	$(BIN)/python -m pytest

check: .venv/.dev native
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/mypy

style: .venv/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: .venv/.dev
	$(BIN)/python docs/generate.py

# Quick when nothing has changed: objects in build/native are named after what they are made from.
native: .venv/.runtime
	$(BIN)/python -m transduce.native.build --work build/native

clean:
	rm -rf .venv build dist src/*.egg-info src/transduce/native/libtransduce.* demo

.venv/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed; set PYTHON=python3.11')"
	$(PYTHON) -m venv .venv

# torch is named first and alone: asked for through a range it could come as a build for another machine.
.venv/.runtime: pyproject.toml setup.py constraints.txt | .venv/bin/python
	@echo "installing torch and the rest into .venv (about 1.2 GB; a minute or two)"
	$(PIP) torch==$$(sed -n 's/^torch==//p' constraints.txt)
	$(PIP) --editable ".[all]"
	touch $@

.venv/.dev: .venv/.runtime
	$(PIP) --editable ".[dev]"
	touch $@
