# Every target sets up what it needs: a fresh machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Tests start Python very often: what it has compiled once is kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo test test-quick test-processes test-documents lint types format findings bench figures screenshot pages docs peer test-lowest test-images clean

help:
	@echo "make demo         search for a committee on a bundled dataset, about a minute"
	@echo "make test         lint, types and tests: what CI runs"
	@echo "make test-quick   the tests that only compute: no processes, no clocks"
	@echo "make test-processes  the tests that start processes and wait for clocks"
	@echo "make test-documents  the blocks, commands and examples of documents, which are some of those"
	@echo "make lint, make types, make format  ruff and mypy"
	@echo "make findings     the slow tests: the papers' findings, statistics, long kill tests"
	@echo "make bench        timings of the hot paths, as ratios (all but timings/bench_time_limit.py and bench_extremes.py, which take 7 and 10 minutes)"
	@echo "make figures      draw the README's picture and that of committee sizes, and write its table, from experiments/rows"
	@echo "make screenshot   photograph a report for the README; needs Chromium, takes two minutes"
	@echo "make pages        write the tables of docs/ from experiments/rows and from the code"
	@echo "make docs         the documentation as a site, in site/: open site/index.html"
	@echo "make test-lowest  the tests with the lowest allowed dependencies"
	@echo "make test-images  the tests of convolutional networks, with PyTorch in an environment of its own"
	@echo "make peer         list the tools that benchmarks compare with; with NAME=optuna, install one in .peers/"
	@echo "make install      create $(VENV) with everything the other targets need"

install: $(STAMP)

$(STAMP): pyproject.toml
	@echo "Installing comitia and what it needs in $(VENV): a minute or two, the first time and when pyproject.toml has changed"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(STAMP)

demo: install
	@$(BIN)/python examples/demo.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: install
	$(BIN)/mypy

# Checks take a processor for half a minute, beside tests that only compute; what waits for clocks comes after them.
test: install
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint types test-quick
	@$(MAKE) --no-print-directory test-processes

# Processes among which tests are shared out; one that has no more takes some from another.
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# One thread each: those of linear algebra get into each other's way where there are more of them than cores.
test-quick: install
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PYTEST) -m "not slow and not processes"

test-processes: install
	$(PYTEST) -m "not slow and processes"

test-documents: install
	$(PYTEST) tests/processes/test_documents.py

findings: install
	$(BIN)/python -m pytest -m slow

bench: install
	@for file in $(filter-out %/bench_time_limit.py %/bench_extremes.py,$(wildcard benchmarks/timings/bench_*.py)); do echo "== $$file"; $(BIN)/python $$file || exit 1; done

figures: install
	@$(BIN)/python benchmarks/studies/figures.py
	@$(BIN)/python benchmarks/studies/committee_sizes.py
	@$(BIN)/python benchmarks/studies/systems.py --figure docs/img/systems-curve.svg > /dev/null

screenshot: install
	@$(BIN)/python benchmarks/studies/screenshot.py

pages: install
	@$(BIN)/python benchmarks/studies/pages.py

# Without a network; a warning is an error.
docs: install
	@$(BIN)/python -m sphinx -b html -c docs -d build/doctrees -E -W --keep-going --quiet . site
	@echo "The documentation is in site/index.html"

peer: install
	@$(BIN)/python -m comitia.bench.peers $(NAME)

test-lowest: pyproject.toml
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-lowest/bin/python tests/lowest_versions.py > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --editable . --group test --constraint .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pytest -m "not slow" -W default

# PyTorch for GPUs is gigabytes: IMAGES_PIP_ARGS can name an index or a constraint for the processor's.
IMAGES_PIP_ARGS ?=
test-images: pyproject.toml
	@test -x .venv-images/bin/python || $(PYTHON) -m venv .venv-images
	@.venv-images/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	@.venv-images/bin/python -m pip install --quiet --editable '.[images]' --group test $(IMAGES_PIP_ARGS)
	.venv-images/bin/python -m pytest -m images

clean:
	rm -rf $(VENV) .venv-lowest .venv-images demo-output site build .mypy_cache .ruff_cache .pytest_cache
