# Every target makes its own environment: `make demo` and `make test` work in an empty clone (Python 3.11+, pip).
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# The demo needs a quarter of what development does (0.7 GB of 2.5); where everything is installed already, it takes that.
DEMO   := $(if $(wildcard $(STAMP)),$(VENV),$(VENV)-demo)

.PHONY: demo web test test-thorough test-slow test-minimum test-machines bench lint format docs reproductions clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch $(STAMP)

$(VENV)-demo/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-demo
	$(VENV)-demo/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-demo/bin/python -m pip install --quiet -c constraints.txt -e ".[cli,report,explore]"
	touch $@

demo: $(DEMO)/.installed  ## embed the built-in turntable and write its report
	$(DEMO)/bin/sidelight demo

web:                    ## build the explorer's page (needs Node 20; users and tests do not)
	cd web && npm ci --no-audit --no-fund && npm run build

test: $(STAMP)          ## the default tests (set SIDELIGHT_DATA for those about real data)
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-thorough: $(STAMP) ## contracts of further variants, and tests of several seconds
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "thorough and not slow"

test-slow: $(STAMP)     ## the tests that take minutes
	$(BIN)/python -m pytest -m slow

test-minimum:           ## the default tests on the oldest versions we promise
	$(PYTHON) -m venv $(VENV)-minimum
	$(VENV)-minimum/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-minimum/bin/python -m pip install --quiet -c constraints-minimum.txt -e ".[report,cli,anndata,explore,notebook,scale]" pytest polars
	$(VENV)-minimum/bin/python -m pytest -W default

test-machines: $(STAMP) ## the default tests on other processors, Pythons and versions, one table (MACHINES="--only Nehalem '3.13-*'")
	$(BIN)/python tests/machines.py $(MACHINES)

bench: $(STAMP)         ## every benchmark, rival in the same run
	$(BIN)/python -m benchmarks

reproductions: $(STAMP) ## the sources' own experiments, figures and numbers
	$(BIN)/python -m reproductions

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP)          ## HTML in docs/_build/html, warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf $(VENV) $(VENV)-* .venv-* out/machines docs/_build docs/gallery docs/tutorials .pytest_cache .mypy_cache .ruff_cache
