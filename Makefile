# One entry point for everything. `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
PYTHON := $(VENV)/bin/python
DUMBBELL := $(VENV)/bin/dumbbell
REPORT := report
CARGO := cargo
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null) Cargo.toml Cargo.lock

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 14

.PHONY: setup
setup: ## Install what is missing (system packages, Rust toolchain, Python environment)
	@scripts/bootstrap.sh $(VENV)

$(VENV)/.installed: requirements.lock scripts/bootstrap.sh
	@scripts/bootstrap.sh $(VENV)

.PHONY: build
build: $(VENV)/.built ## Build everything; the command is .venv/bin/dumbbell

$(VENV)/.built: $(VENV)/.installed pyproject.toml $(RUST_SOURCES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin develop --release --locked --quiet
	@touch $@

.PHONY: report
report: build ## The main job: all schemes over two Pantheon paths, measured, with a report
	@scripts/report.sh $(DUMBBELL) $(REPORT)

.PHONY: lint
lint: build ## Formatting, lints and types of Rust and Python
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(VENV)/bin/ruff format --check --quiet .
	$(VENV)/bin/ruff check --quiet .
	$(VENV)/bin/mypy

.PHONY: test
test: lint test-rust test-python ## Everything that has to pass: lint, Rust tests, Python tests

.PHONY: test-rust
test-rust: ## Unit, property, scripted and simulated-network tests
	$(CARGO) test --workspace --locked --quiet

.PHONY: test-python
test-python: build ## Tests of the command line, the results and the report
	$(VENV)/bin/pytest -m "not slow"

.PHONY: test-slow
test-slow: build ## Long-running tests (property tests with many cases, long simulations)
	PROPTEST_CASES=4096 $(CARGO) test --workspace --locked --profile slow-test --quiet -- --include-ignored
	$(VENV)/bin/pytest

.PHONY: bench
bench: build ## Speed, side by side with ns-3 and in absolute figures
	@scripts/bootstrap.sh --bench $(VENV)
	$(PYTHON) benchmarks/speed.py

.PHONY: fidelity
fidelity: build ## Our numbers beside published ones; writes docs/fidelity.md
	$(PYTHON) benchmarks/fidelity.py --write docs/fidelity.md

.PHONY: clean
clean: ## Remove what the build made
	rm -rf target $(VENV) $(REPORT)
