# Every target sets up what it needs: a fresh machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help install demo test lint types findings bench peer test-lowest clean

help:
	@echo "make demo         search for a committee on a bundled dataset, about a minute"
	@echo "make test         lint, types and tests: what CI runs"
	@echo "make findings     the slow tests: statistics, long kill tests"
	@echo "make bench        timings of the hot paths, as ratios (bench_time_limit.py, 7 minutes, by itself)"
	@echo "make test-lowest  the tests with the lowest allowed dependencies"
	@echo "make peer         list the tools that benchmarks compare with; with NAME=optuna, install one in .peers/"
	@echo "make install      create $(VENV) with everything the other targets need"

install: $(STAMP)

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(STAMP)

demo: install
	@$(BIN)/python examples/demo.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

# Tests that only compute run beside the others, which wait for processes and clocks most of the time.
COMPUTING := tests/contracts/test_goals_and_selections.py tests/contracts/test_optimizers.py \
	tests/contracts/test_resamplings.py tests/ensembles tests/gp tests/optimizers tests/space tests/spaces \
	tests/bench/test_report.py tests/bench/test_rows.py tests/bench/test_statistics.py tests/test_committees.py \
	tests/test_documents.py tests/test_selection.py tests/test_tables.py

test: lint types
	@echo "the tests of $(COMPUTING) run beside the others; what they say comes at the end"
	@$(BIN)/python -m pytest -m "not slow" $(COMPUTING) > $(VENV)/computing.log 2>&1 & computing=$$!; \
	$(BIN)/python -m pytest -m "not slow" tests $(addprefix --ignore=,$(COMPUTING)); others=$$?; \
	wait $$computing; computing=$$?; cat $(VENV)/computing.log; \
	test $$others -eq 0 && test $$computing -eq 0

findings: install
	$(BIN)/python -m pytest -m slow

bench: install
	@for file in benchmarks/bench_[!t]*.py benchmarks/bench_tables.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

peer: install
	@$(BIN)/python -m comitia.bench.peers $(NAME)

test-lowest: pyproject.toml
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-lowest/bin/python tests/lowest_versions.py > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --editable . --group test --constraint .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pytest -m "not slow" -W default

clean:
	rm -rf $(VENV) .venv-lowest demo-output .mypy_cache .ruff_cache .pytest_cache
