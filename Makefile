# Everything a person does with this checkout. `make help` lists it.

# python3 of the PATH, unless it was built without optimisation and the distribution's can be used, which is built with it:
# the service then takes about a tenth less CPU time.
OPTIMISED := import sysconfig as s, sys; sys.exit("--enable-optimizations" not in s.get_config_var("CONFIG_ARGS"))
USABLE := import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell ! python3 -c '$(OPTIMISED)' 2>/dev/null && /usr/bin/python3 -c '$(USABLE)' 2>/dev/null \
          && echo /usr/bin/python3 || echo python3)
VENV   := .venv
BIN    := $(VENV)/bin
# The extra pip flags keep one noisy line out of a first start; nothing is fetched but locked, hashed files.
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check
LOCK   := uv pip compile --universal --python-version 3.11 --generate-hashes \
          --no-emit-index-url --no-annotate --no-header --quiet
# Tests start hundreds of interpreters: what they import is compiled once, also where a shell says not to keep it.
COMPILED := PYTHONDONTWRITEBYTECODE=
# SQLite waits for the disk at every commit, and PostgreSQL copies 10 MB for each database. No test cuts the power, so
# their files are kept in memory, if 6 GB are free.
MEMORY := /dev/shm
FREE_KB := $(shell df -Pk $(MEMORY) 2>/dev/null | awk 'NR == 2 { print $$4 }')
IN_MEMORY := $(shell test -w $(MEMORY) && test "$(FREE_KB)" -gt 6000000 && echo PYTEST_DEBUG_TEMPROOT=$(MEMORY))
SPREAD := --workers auto
PYTEST := $(COMPILED) $(IN_MEMORY) $(BIN)/python -m pytest $(SPREAD)

.DEFAULT_GOAL := help
.PHONY: help install run market test quick campaign check docs bench bench-full lock generate screenshots release client clean

help: ## List these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

install: $(VENV)/.ok ## Install bullion, bullion-client, bullion-conformance and what they need into .venv, and start nothing
	@echo "bullion, bullion-client and bullion-conformance are in $(BIN)."

run: $(VENV)/.ok ## Start the demo on this machine and print keys and curl lines
	@echo "Starting the demo. Its data is kept in var/demo; Ctrl+C stops it."
	@exec $(BIN)/bullion demo

market: $(VENV)/.ok ## Start the demo with a FIX venue and live rates, all on this machine
	@echo "Starting the market demo. Its data is kept in var/market-demo; Ctrl+C stops it."
	@exec $(BIN)/bullion market demo

test: check ## Run every check and every test
	@$(BIN)/python -m tools.servers
	@echo "Running the tests."
	@$(COMPILED) $(IN_MEMORY) $(BIN)/python -m tools.run_tests $(SPREAD)

quick: check ## Run every check, and the tests that start no process and take no second: under two minutes
	@echo "Running the quick tests."
	@$(PYTEST) --quick -q

campaign: $(VENV)/.dev-ok ## Run the long proofs in full: the random ones of the tests, twenty times over
	@$(BIN)/python -m tools.servers
	@echo "Running the long proofs: every random schedule twenty times as long as in 'make test'. It takes well over ten minutes."
	@TEST_SCALE=$${TEST_SCALE:-20} $(PYTEST) -v \
		-o faulthandler_timeout=3600 tests/model tests/hedge/book tests/booking/test_queue_races.py tests/acceptance tests/desk \
		tests/faults/test_production_commits.py \
		tests/kills tests/nodes tests/client/test_faulty_network.py tests/maintenance/test_store_copy.py \
		tests/api/test_fuzzed_description.py tests/bench/test_bench.py tests/deploy/test_install_page.py tests/hedge/fix/test_lossy_line.py \
		tests/hedge/fix/test_order_simulation.py tests/rates/feeds tests/contract/test_ledger_production.py tests/contract/test_partial_fills.py

check: $(VENV)/.dev-ok ## Format, lint, types, layers, and generated files in step
	@echo "Checking format and lint (ruff)."
	@$(BIN)/ruff format --check --quiet . || { echo "Some files are not formatted: run '$(BIN)/ruff format .'"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@echo "Checking types (mypy, strict)."
	@# Meanwhile the tests are compiled, which each test worker would do by itself.
	@{ $(COMPILED) $(BIN)/python -m pytest -p no:cacheprovider --collect-only -qq > /dev/null 2>&1 & } ; \
		$(BIN)/mypy; status=$$?; wait; exit $$status
	@echo "Checking that generated files are in step, and that rooms import only downwards (import-linter)."
	@$(BIN)/python -m tools.generate --check & generated=$$! ; \
		$(BIN)/lint-imports --no-cache > $(VENV)/imports.log || { cat $(VENV)/imports.log; failed=yes; } ; \
		wait $$generated && [ -z "$$failed" ]

generate: $(VENV)/.dev-ok ## Write the generated files anew (refusals, OpenAPI, the page at /docs, pictures, the client's retry table, the measured tables of docs/scaling.md)
	@$(BIN)/python -m tools.generate

docs: $(VENV)/.docs-ok ## Build the documentation as a site, into build/site
	@$(BIN)/python -m tools.site

bench: $(VENV)/.dev-ok ## Measure speed as ratios to bare servers, in some twenty minutes
	@$(BIN)/python -m tools.servers
	@$(BIN)/python -m bench

bench-full: $(VENV)/.dev-ok ## The same with ten million orders stored
	@$(BIN)/python -m tools.servers
	@$(BIN)/python -m bench --full

screenshots: $(VENV)/.dev-ok ## Take pictures of the console's pages, into docs/pictures
	@$(BIN)/python -m tools.servers
	@$(BIN)/python -m tools.screenshots

lock: $(VENV)/.lock-ok ## Resolve the dependencies anew and write requirements*.txt with hashes
	@echo "Resolving dependencies for both CPU kinds."
	@$(BIN)/$(LOCK) pyproject.toml client/pyproject.toml conformance/pyproject.toml -o requirements.txt
	@$(BIN)/$(LOCK) pyproject.toml --extra otel -c requirements.txt -o requirements-otel.txt
	@$(BIN)/$(LOCK) pyproject.toml --extra market -c requirements.txt -o requirements-market.txt
	@$(BIN)/$(LOCK) --group build -o requirements-build.txt
	@$(BIN)/$(LOCK) --group dev -c requirements.txt -c requirements-otel.txt -c requirements-market.txt -o requirements-dev.txt
	@$(BIN)/$(LOCK) --group docs -c requirements.txt -c requirements-dev.txt -o requirements-docs.txt
	@echo "requirements.txt and those for otel, market, build, dev and docs are written."

release: $(VENV)/.ok ## Build wheels and source archives of service, client and kit into dist/, try them, and write SBOMs and licences
	@$(BIN)/python -m tools.release

client: $(VENV)/.ok ## Build the client's own wheel and source archive into dist/
	@cd client && ../$(BIN)/hatchling build -d ../dist

clean: ## Remove the virtual environment, caches and the demos' data (never a store of your own)
	rm -rf $(VENV) var/demo var/market-demo dist build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Bullion needs Python 3.11 or later as '$(PYTHON)'."; \
		echo "Install it (on Debian: apt-get install python3), or name one: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "This Python cannot make virtual environments. On Debian: apt-get install python3-venv"; exit 1; }
	@echo "Making a virtual environment in $(VENV), with $(PYTHON)."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.ok: requirements.txt requirements-build.txt pyproject.toml client/pyproject.toml conformance/pyproject.toml | $(VENV)/bin/python
	@echo "Installing Bullion and what it needs (locked versions, hashes checked)."
	@$(PIP) install --require-hashes -r requirements.txt -r requirements-build.txt
	@$(PIP) install --no-deps --no-build-isolation --editable . --editable ./client --editable ./conformance
	@touch $@

$(VENV)/.dev-ok: requirements-dev.txt requirements-otel.txt requirements-market.txt $(VENV)/.docs-ok
	@echo "Installing the tools for tests and checks."
	@# Not compiled: tests and checks import a small part of it, which is compiled then.
	@$(PIP) install --no-compile --require-hashes -r requirements-otel.txt -r requirements-market.txt -r requirements-dev.txt
	@touch $@

$(VENV)/.docs-ok: requirements-docs.txt $(VENV)/.ok
	@echo "Installing what builds the site of the documentation."
	@$(PIP) install --require-hashes -r requirements-docs.txt
	@touch $@

$(VENV)/.lock-ok: | $(VENV)/bin/python
	@$(PIP) install 'uv>=0.5'
	@touch $@
