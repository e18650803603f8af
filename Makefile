# One entry point for everything. `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
ifeq ($(MAKELEVEL), 0) # fetching and compiling overlap
MAKEFLAGS += --jobs=2
endif

VENV := .venv
PYTHON := $(VENV)/bin/python
DUMBBELL := $(VENV)/bin/dumbbell
PYTEST := $(VENV)/bin/pytest
REPORT := report
CARGO := cargo
# Where cargo builds, which the caller may say.
TARGET := $(or $(CARGO_TARGET_DIR),target)
# The folder of a Pantheon run's logs (docs/develop/tests.md): reported too, and read by the tests that need real ones.
export PANTHEON_LOGS LEARNED_WEIGHTS
# The profile of the module: that of the programs, with which it shares what both stand on. Link-time optimization is for
# wheels and benchmarks. The gate builds it as Rust's tests are, with `dev`: what it stands on is compiled once, and it
# checks its arithmetic.
export DUMBBELL_PROFILE ?= no-lto
# The real programs stand apart: QUIC's own build takes minutes, so it is built once, as it is used.
PROGRAMS := bpf_loader quic
# They are used at full speed, or tested as all else.
PROGRAM_PROFILE := $(if $(filter dev,$(DUMBBELL_PROFILE)),dev,no-lto)
PROGRAM_FOLDER := $(if $(filter dev,$(DUMBBELL_PROFILE)),debug,no-lto)
EXECUTABLES := dumbbell-kernel dumbbell-quic
OTHERS := $(PROGRAMS:%=--exclude %)
# To build takes minutes: on a terminal cargo says how far it is.
QUIET := $(shell test -t 2 || echo --quiet)
# Modules that a build script or a macro lists, `cargo fmt` does not see. The edition is rustfmt.toml's.
LISTED := $(shell find $(addprefix crates/,$(addprefix congestion/src/,schemes learned) $(addprefix path/src/,elements queues)) -name '*.rs')
RUST_SOURCES := $(shell find crates $(PROGRAMS:%=-path crates/% -prune -o) \( -name '*.rs' -o -name Cargo.toml \) -print) \
	Cargo.toml Cargo.lock
# What `dumbbell serve` shows.
PAGES := python/dumbbell/present/serve/pages
PLAYGROUND := build/playground
WEB_SOURCES := $(shell find web \( -name node_modules -o -name test \) -prune -o -type f -print)
PROGRAM_SOURCES := $(shell find $(PROGRAMS:%=crates/%) kernel -type f) Cargo.lock
# A Go that is recent enough, wherever the set-up found it.
GO = $(if $(wildcard $(VENV)/bin/go),$(CURDIR)/$(VENV)/bin/go,go)

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 14

.PHONY: compiler
compiler:
	@scripts/bootstrap.sh compiler $(VENV)

$(VENV)/.python: requirements.lock scripts/bootstrap.sh
	@scripts/bootstrap.sh python $(VENV)
	@touch $@

$(VENV)/.wheel: requirements-wheel.lock scripts/bootstrap.sh $(VENV)/.python
	@scripts/bootstrap.sh wheel $(VENV)
	@touch $@

$(VENV)/.tests: requirements-test.lock scripts/bootstrap.sh $(VENV)/.python
	@scripts/bootstrap.sh tests $(VENV)
	@touch $@

.PHONY: build
build: $(VENV)/.built $(VENV)/.programs $(PAGES)/index.html ## Build everything; the command is .venv/bin/dumbbell

# The name of a profile follows.
MODULE = PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin develop --locked $(QUIET) --profile
IS_BUILT = [ -e $(VENV)/.built ] && [ -z "$$(find pyproject.toml $(RUST_SOURCES) -newer $(VENV)/.built)" ]

# The stamp has the profile in it.
$(VENV)/.built: pyproject.toml $(RUST_SOURCES) $(VENV)/.python | crates
	$(MODULE) $(DUMBBELL_PROFILE)
	@echo $(DUMBBELL_PROFILE) >$@

# The module that the gate tests: that of `make build` where it is current, else one as Rust's tests are compiled.
$(VENV)/.module: pyproject.toml $(RUST_SOURCES) $(VENV)/.python | crates
	@$(IS_BUILT) || { rm -f $(VENV)/.built $(VENV)/.simulator && $(MODULE) dev; }
	@touch $@

# What a first report needs: to compile real packets and trainers takes as long again.
$(VENV)/.simulator: pyproject.toml $(RUST_SOURCES) $(VENV)/.python | crates
	@$(IS_BUILT) || $(MODULE) $(DUMBBELL_PROFILE) --no-default-features
	@touch $@

# Rust's packages and Python's are fetched at the same time. To list what the module stands on cargo fetches it; `cargo
# fetch` would fetch what QUIC stands on as well, which is five times as much.
.PHONY: crates
crates: compiler
	@$(CARGO) tree --package py_bindings --edges normal,build --locked --quiet >/dev/null

$(VENV)/.real: scripts/bootstrap.sh $(VENV)/.python | compiler
	@scripts/bootstrap.sh real $(VENV)
	@touch $@

$(VENV)/.programs: $(VENV)/.real $(PROGRAM_SOURCES) | $(VENV)/.built # which may be in the same folder of Cargo's
	$(CARGO) build --profile $(PROGRAM_PROFILE) --locked $(QUIET) $(PROGRAMS:%=-p %)
	install -m 755 $(EXECUTABLES:%=$(TARGET)/$(PROGRAM_FOLDER)/%) $(VENV)/bin/
	@touch $@

.PHONY: utp
utp: $(VENV)/.python | compiler ## libutp as a scheme: fetches Go and its modules, one of them without a licence (docs/develop/dependencies.md)
	@scripts/bootstrap.sh utp $(VENV)
	cd programs/utp && $(GO) build -trimpath -o $(CURDIR)/$(VENV)/bin/dumbbell-utp .

.PHONY: test-utp
test-utp: utp ## Lints and tests of dumbbell-utp
	cd programs/utp && test -z "$$($(GO)fmt -l .)" && $(GO) vet ./... && $(GO) test ./...

web/node_modules/.installed: web/package-lock.json scripts/bootstrap.sh
	@scripts/bootstrap.sh node $(VENV)
	@touch $@

.PHONY: web
web: $(PAGES)/index.html ## The pages of `dumbbell serve` and `dumbbell site` (Node)

$(PAGES)/index.html: web/node_modules/.installed $(WEB_SOURCES)
	@rm -rf $(PAGES)
	node web/build.mjs explorer $(PAGES)

.PHONY: playground
playground: $(PLAYGROUND)/index.html ## The simulator in a browser, as static files: build/playground

$(PLAYGROUND)/index.html: web/node_modules/.installed $(WEB_SOURCES) $(VENV)/.simulator scripts/playground.sh scripts/playground_catalogue.py
	@scripts/bootstrap.sh wasm $(VENV)
	@env -u MAKEFLAGS -u MFLAGS scripts/playground.sh $(PYTHON) $(TARGET) $(PLAYGROUND)

.PHONY: report
report: $(VENV)/.simulator ## The main job: all schemes over two Pantheon paths, measured, with a report
	@scripts/report.sh simulated $(DUMBBELL) $(REPORT)
	@$(MAKE) --no-print-directory build
	@scripts/report.sh real $(DUMBBELL) $(REPORT)
	@$(DUMBBELL) show $(REPORT) | sed '/^$$/q'
	@echo "report: $(REPORT)/report.html and $(REPORT)/report.pdf; of every run: $(DUMBBELL) report $(REPORT) --all-runs"

.PHONY: check
check: check-rust check-python check-web ## After every edit: formatting, lints and types of Rust, Python and TypeScript, unit tests

.PHONY: check-rust
check-rust: compiler
	$(CARGO) fmt --all --check
	@rustfmt --check $(LISTED)
	$(CARGO) clippy --workspace $(OTHERS) --all-targets --locked --quiet -- -D warnings
	$(CARGO) test --workspace $(OTHERS) --lib --locked --quiet

.PHONY: check-python
check-python: $(VENV)/.tests
	$(VENV)/bin/ruff format --check --quiet .
	$(VENV)/bin/ruff check --quiet .
	$(VENV)/bin/mypy
	PYTHONPATH=python $(VENV)/bin/lint-imports --no-cache --no-logo

.PHONY: check-web
check-web: web/node_modules/.installed
	@npm run --prefix web --silent check
	@npm run --prefix web --silent test

# The gate, and suites beside it: CONTRIBUTING.md says what is where, scripts/suites.py which suites a change touches.

.PHONY: test
# One cargo at a time: they lock the same folder. The tests of Python take longest: the counts of its runner come last.
test: ## The gate: check, the tests of Rust and of Python, a smoke test of each real thing
	@python3 scripts/kept_build.py restore $(TARGET)
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory $(VENV)/.module $(PAGES)/index.html rust-tests
	@python3 scripts/kept_build.py keep $(TARGET)
	@$(MAKE) --no-print-directory --output-sync=line test-python test-rust

.PHONY: test-all
# One suite after the other: real packets need the machine for themselves.
test-all: test ## The gate and every other suite
	@set -e; for suite in $(SUITES); do $(MAKE) --no-print-directory test-$$suite; done

.PHONY: rust-tests
rust-tests: compiler
	$(CARGO) test --workspace $(OTHERS) --test '*' --no-run --locked --quiet

# Crates whose integration tests carry real packets.
REAL := datapath endpoint

.PHONY: test-rust
test-rust: ## Property, scripted and simulated-network tests of the crates
	$(CARGO) test --workspace $(OTHERS) $(REAL:%=--exclude %) --test '*' --locked --quiet
	env -u MAKEFLAGS -u MFLAGS $(CARGO) test --workspace $(OTHERS) --doc --locked --quiet

PYTEST_GATE = $(PYTEST) --numprocesses=auto --dist=worksteal

.PHONY: test-python
test-python: $(VENV)/.module $(PAGES)/index.html $(VENV)/.tests ## The gate of Python
	$(PYTEST_GATE) -m gate

.PHONY: test-budget
test-budget: $(VENV)/.module $(PAGES)/index.html $(VENV)/.tests ## Record the CPU time of the slowest tests: tests/support/cpu_budget.json
	$(PYTEST_GATE) -m gate --record-cpu

.PHONY: quick-wheel
quick-wheel: $(VENV)/.tests $(PAGES)/index.html | crates ## dist/: a wheel as the gate builds the module, for test-installed
	$(VENV)/bin/maturin build --profile $(DUMBBELL_PROFILE) --locked $(QUIET) --out dist

.PHONY: test-installed
test-installed: $(VENV)/.tests ## The gate of Python with the wheel in dist/, for the Python of this environment
	$(PYTHON) -m pip install --quiet --no-index --no-deps --force-reinstall dist/dumbbell-*.whl
	$(PYTEST_GATE) -m gate

SUITES := real programs browser pages wheel wasm kills slow

.PHONY: test-real
test-real: build $(VENV)/.tests ## Real packets and real time
	@scripts/bootstrap.sh machines $(VENV)
	$(CARGO) test $(REAL:%=--package %) --package plugin --lib --tests --locked --quiet -- --include-ignored
	$(PYTEST) --numprocesses=4 --maxschedchunk=1 -m "real and not slow" # they mostly wait

.PHONY: test-programs
test-programs: build $(VENV)/.tests ## Lints and tests of dumbbell-kernel and dumbbell-quic, and of a module without them
	$(CARGO) clippy --package py_bindings --no-default-features --locked --quiet -- -D warnings
	$(CARGO) clippy --profile $(PROGRAM_PROFILE) $(PROGRAMS:%=-p %) --all-targets --locked --quiet -- -D warnings
	$(CARGO) test --profile $(PROGRAM_PROFILE) $(PROGRAMS:%=-p %) --locked --quiet
	$(PYTEST_GATE) -m "programs and not real"

.PHONY: test-browser
test-browser: build $(VENV)/.tests ## The pages in Chromium and Firefox
	@scripts/bootstrap.sh firefox $(VENV)
	$(PYTEST_GATE) -m "browser and not real and not wasm"

.PHONY: test-pages
test-pages: build $(VENV)/.tests $(DOCS)/.docs ## Every block of the documentation
	$(PYTEST_GATE) -m "pages and not real and not slow"

.PHONY: test-wheel
test-wheel: build $(VENV)/.tests ## Wheels and sources, installed as a user does
	$(PYTEST) -m wheel

.PHONY: test-wasm
test-wasm: build playground $(VENV)/.tests ## The playground in a browser beside native runs
	@scripts/bootstrap.sh firefox $(VENV)
	$(PYTEST_GATE) -m wasm

.PHONY: test-kills
test-kills: build $(VENV)/.tests ## Commands that are killed
	$(PYTEST_GATE) -m "kills and not real"

.PHONY: test-slow
test-slow: build $(VENV)/.tests ## Long simulations, and what compiles examples
	$(PYTEST_GATE) -m slow

# No file, no socket, no clock: what a browser runs too. Debian's compiler, for it comes with the sources of std.
WASM := units strict_input record congestion transport path measure runs views simulator playground
.PHONY: wasm-check
wasm-check: ## The simulator compiles for the browser (Debian's rustc-web, cargo-web and rust-web-src)
	@scripts/bootstrap.sh wasm $(VENV)
	+RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc /usr/bin/cargo check --locked --quiet -Z build-std=std,panic_abort \
		--target wasm32-unknown-unknown --target-dir $(TARGET)/wasm $(WASM:%=-p %)

.PHONY: test-cases
test-cases: compiler ## Property tests with 4096 cases each
	PROPTEST_CASES=4096 $(CARGO) test --workspace $(OTHERS) $(REAL:%=--exclude %) --locked --profile no-lto --quiet -- --include-ignored

.PHONY: advisories
advisories: ## Ask the advisory databases about all locked packages (needs the internet, cargo-deny and pip-audit)
	$(CARGO) deny check advisories
	pip-audit --strict --no-deps --disable-pip $(patsubst %,-r %,$(wildcard requirements*.lock))

.PHONY: fuzz
fuzz: build $(VENV)/.tests ## Ten minutes of mutated inputs, and a hundred kills; SEED= repeats a round, FUZZ_S= is its length
	PYTHONPATH=tests $(PYTHON) -m support.fuzzing.fuzz --seconds $(or $(FUZZ_S),600) --jobs 2 $(SEED:%=--seed %)
	PYTHONPATH=tests $(PYTHON) -m support.commands.kills --kills 100 $(SEED:%=--seed %)

.PHONY: bench
bench: build ## Speed, beside ns-3 and in absolute figures; cost of controllers, Pantheon's report, what the emulator carries
	@scripts/bootstrap.sh bench $(VENV)
	@[ "$$(cat $(VENV)/.built)" = release ] || { rm $(VENV)/.built && \
		$(MAKE) --no-print-directory DUMBBELL_PROFILE=release $(VENV)/.built; } # as wheels have it, but for the profile of training runs
	$(PYTHON) -m bench.speed
	$(PYTHON) -m bench.controllers --write docs/develop/speed.md
	$(PYTHON) -m bench.inference --write docs/develop/speed.md
	$(PYTHON) -m bench.plugins --write docs/how-to/plugins.md
	$(PYTHON) -m validation.seed_reports
	$(PYTHON) -m bench.emulation
	$(PYTHON) -m bench.sweep --write docs/develop/speed.md
	$(PYTHON) -m bench.many_runs --write docs/how-to/many-runs.md
	@$(MAKE) --no-print-directory playground
	$(PYTHON) -m bench.playground --write docs/how-to/playground.md
	$(PYTHON) -m bench.explorer --write docs/how-to/explorer.md
	$(PYTHON) -m bench.views --write docs/how-to/explorer.md
	$(PYTHON) -m bench.live

.PHONY: fidelity
fidelity: build ## dumbbell's numbers beside published ones, by committed tolerances; writes docs/evidence/fidelity.md, results/fidelity.html and parts of docs/schemes
	$(PYTHON) -m validation.fidelity --write docs/evidence/fidelity.md --html results/fidelity.html
	$(PYTHON) -m validation.scheme_table --write
	$(PYTHON) -m validation.trust --write
	$(PYTHON) -m validation.str0m --write docs/schemes/webrtc.md

.PHONY: agreement
agreement: build ## Simulated beside real packets, our controllers beside real ones; writes docs/evidence/agreement.md
	$(PYTHON) -m validation.agreement --write docs/evidence/agreement.md
	$(PYTHON) -m validation.agreement --experiment agreement-more --write docs/evidence/agreement-more.md
	$(PYTHON) -m validation.agreement --experiment agreement-learned --write docs/evidence/agreement-learned.md
	$(PYTHON) -m validation.agreement --experiment agreement-steps --write docs/evidence/agreement-steps.md
	$(PYTHON) -m validation.agreement --experiment agreement-reordering --write docs/evidence/agreement-reordering.md

DOCS := build/docs-venv
$(DOCS)/.docs: requirements-docs.lock scripts/bootstrap.sh
	@scripts/bootstrap.sh docs $(DOCS)
	@touch $@

.PHONY: docs
docs: $(DOCS)/.docs web/node_modules/.installed ## build/site: the documentation as a site with search, which opens without a network
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet
	@[ ! -e $(PLAYGROUND)/index.html ] || { rm -rf build/site/playground && cp -r $(PLAYGROUND) build/site/playground; }
	@[ ! -x $(VENV)/bin/dumbbell ] || scripts/site_example.sh $(VENV)/bin/dumbbell build/site/example
	@echo build/site/index.html

.PHONY: notes
notes: $(DOCS)/.docs ## The fragments of changes/ become a section of CHANGELOG.md; VERSION= is its name
	$(DOCS)/bin/towncrier build --yes --version $(VERSION)

.PHONY: release
release: compiler ## dist/: wheels of both architectures, sources, checksums, bill of materials, notes; prints the command of the tag
	@scripts/release.sh $(VENV) dist

.PHONY: wheel
wheel: build $(VENV)/.tests $(VENV)/.wheel ## dist/: dumbbell as a wheel and as sources, and the programs for real packets as the wheel dumbbell-real
	@scripts/wheels.sh $(VENV) dist
	DUMBBELL_WHEELS=dist $(PYTEST) tests/house/test_wheel.py

.PHONY: clean
clean: ## Remove what the build made
	rm -rf target build $(VENV) web/node_modules $(PAGES) $(REPORT) $(REPORT)-emulated $(REPORT)-pantheon-logs
