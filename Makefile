# One entry point for everything. `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
PYTHON := $(VENV)/bin/python
DUMBBELL := $(VENV)/bin/dumbbell
REPORT := report
CARGO := cargo
# The real programs stand apart: QUIC's own build takes minutes, so it is built once, as it is used.
PROGRAMS := kernel quic
OTHERS := $(PROGRAMS:%=--exclude %)
RUST_SOURCES := $(shell find crates $(PROGRAMS:%=-path crates/% -prune -o) \( -name '*.rs' -o -name Cargo.toml \) -print) \
	Cargo.toml Cargo.lock
PROGRAM_SOURCES := $(shell find $(PROGRAMS:%=crates/%) kernel programs -type f) Cargo.lock
# A Go that is recent enough, wherever the set-up found it.
GO = $(if $(wildcard $(VENV)/bin/go),$(CURDIR)/$(VENV)/bin/go,go)

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 14

.PHONY: setup
setup: ## Install what is missing (system packages, Rust toolchain, Python environment)
	@scripts/bootstrap.sh $(VENV)

$(VENV)/.installed: requirements.lock scripts/bootstrap.sh
	@scripts/bootstrap.sh $(VENV)

.PHONY: build
build: $(VENV)/.built $(VENV)/.programs ## Build everything; the command is .venv/bin/dumbbell

$(VENV)/.built: $(VENV)/.installed pyproject.toml $(RUST_SOURCES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin develop --release --locked --quiet
	@touch $@

$(VENV)/.programs: $(VENV)/.installed $(PROGRAM_SOURCES)
	$(CARGO) build --release --locked --quiet $(PROGRAMS:%=-p %)
	install -m 755 $(PROGRAMS:%=target/release/dumbbell-%) $(VENV)/bin/
	cd programs/utp && $(GO) build -trimpath -o $(CURDIR)/$(VENV)/bin/dumbbell-utp .
	@touch $@

.PHONY: report
report: build ## The main job: all schemes over two Pantheon paths, measured, with a report
	@scripts/report.sh $(DUMBBELL) $(REPORT)

.PHONY: lint
lint: build ## Formatting, lints and types of Rust and Python
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace $(OTHERS) --all-targets --locked --quiet -- -D warnings
	$(CARGO) clippy --release $(PROGRAMS:%=-p %) --all-targets --locked --quiet -- -D warnings
	cd programs/utp && test -z "$$($(GO)fmt -l .)" && $(GO) vet ./...
	$(VENV)/bin/ruff format --check --quiet .
	$(VENV)/bin/ruff check --quiet .
	$(VENV)/bin/mypy

.PHONY: test
test: lint test-rust test-python ## Everything that has to pass: lint, Rust tests, Python tests

.PHONY: test-rust
test-rust: ## Unit, property, scripted and simulated-network tests
	$(CARGO) test --workspace $(OTHERS) --locked --quiet
	$(CARGO) test --release $(PROGRAMS:%=-p %) --locked --quiet
	cd programs/utp && $(GO) test ./...

.PHONY: test-python
test-python: build ## Tests of the command line, the results and the report
	$(VENV)/bin/pytest -m "not slow"

.PHONY: test-slow
test-slow: build ## Long-running tests (property tests with many cases, long simulations)
	PROPTEST_CASES=4096 $(CARGO) test --workspace $(OTHERS) --locked --profile slow-test --quiet -- --include-ignored
	$(VENV)/bin/pytest

.PHONY: bench
bench: build ## Speed, beside ns-3 and in absolute figures; cost of controllers, Pantheon's report, what the emulator carries
	@scripts/bootstrap.sh --bench $(VENV)
	$(PYTHON) benchmarks/speed.py
	$(PYTHON) benchmarks/controllers.py --write docs/benchmarks.md
	$(PYTHON) benchmarks/seed_california.py
	$(PYTHON) benchmarks/emulation.py
	$(PYTHON) benchmarks/sweep.py --write docs/benchmarks.md

.PHONY: fidelity
fidelity: build ## Our numbers beside published ones; writes docs/fidelity.md, and str0m in docs/schemes/webrtc.md
	$(PYTHON) benchmarks/fidelity.py --write docs/fidelity.md
	$(PYTHON) benchmarks/str0m.py --write docs/schemes/webrtc.md

.PHONY: agreement
agreement: build ## Simulated beside real packets, our controllers beside real ones; writes docs/agreement.md
	$(PYTHON) benchmarks/agreement.py --write docs/agreement.md
	$(PYTHON) benchmarks/agreement.py --experiment agreement-more --write docs/agreement-more.md

.PHONY: clean
clean: ## Remove what the build made
	rm -rf target $(VENV) $(REPORT) $(REPORT)-emulated $(REPORT)-pantheon-logs
