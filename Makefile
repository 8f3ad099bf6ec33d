# Each command sets up what it needs in .venv; only Python 3.11 or newer and make are asked for.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test bench docs clean

demo: $(VENV)/.runtime
	$(BIN)/t2o edit examples/trail.jpg "a bit brighter, with richer colours" -o out --overwrite

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy & types=$$!; $(BIN)/pytest -m "slow or not slow" -rs && wait $$types

bench: $(VENV)/.dev
	$(BIN)/python -m bench

docs: $(VENV)/.dev
	$(BIN)/python -m docs

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "t2onet needs Python 3.11 or newer; say which: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml requirements-dev.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable . --requirement requirements-dev.txt
	@touch $@

clean:
	rm -rf $(VENV) out build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
