# Everything by one word. `make up` needs Python and make, nothing else; `make help` lists the rest.

SHELL := /bin/sh
PYTHON ?= python3
UV_VERSION := 0.13.9
UV := $(shell command -v uv || echo .tools/bin/uv)
RUN := .venv/bin/python
MANAGE := DEBUG=true SNAPSTATE_ENV_FILE=/dev/null $(RUN) -W ignore::RuntimeWarning manage.py
SCHEMA := $(MANAGE) spectacular --format openapi-json --validate --fail-on-warn
INSTALL := $(UV) pip install --quiet --python $(RUN) --require-hashes --compile-bytecode

.DEFAULT_GOAL := help
.PHONY: up test chaos check schema clients bench lock docs help

up: .venv/.installed ## Start everything on this machine; Ctrl-C stops it
	@exec $(RUN) -m snapstate_project.dev

test: .venv/.installed-dev docs/dist/404.html sdk/dist/.built mcp-server/tests/node/node_modules/.installed tests/clients/generated/node_modules/.installed ## Run every test (ARGS="tests/house -x" to choose)
	@exec $(RUN) -m pytest $(or $(ARGS),-n 3 --dist loadfile)

chaos: .venv/.installed-dev ## Kill, freeze and starve everything for three minutes under load; what was lost (STORM_SECONDS, STORM_SEED)
	@STORM_SECONDS=$${STORM_SECONDS:-180} exec $(RUN) -m pytest -q --timeout 900 tests/promises/test_storm.py

check: .venv/.installed-dev sdk/node_modules/.installed docs/node_modules/.installed ## Lint, format, types, imports, schema, migrations, compose and Dockerfile
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	.venv/bin/lint-imports --no-logo
	$(MANAGE) check
	$(MANAGE) makemigrations --check --dry-run
	$(SCHEMA) --file .venv/openapi.json
	cmp .venv/openapi.json docs/openapi.json || { echo "docs/openapi.json is old: run make schema" >&2; exit 1; }
	$(MANAGE) docs_facts --check
	@$(SDK_NPM) run --silent check
	@$(NPM) run --silent types
	$(RUN) -m snapstate_project.dev.check_containers

schema: .venv/.installed-dev ## Write docs/openapi.json from the code
	$(SCHEMA) --file docs/openapi.json

clients: .venv/.installed-dev tests/clients/generated/node_modules/.installed ## Generate clients of docs/openapi.json (Python, TypeScript twice, Go), compile and run them
	@exec $(RUN) -m pytest -q tests/clients/test_generated.py

bench: .venv/.installed-dev ## Measure on servers of its own; prints a table, writes bench.json
	@exec $(RUN) -m snapstate_project.dev.bench

docs: .venv/.installed-dev docs/dist/404.html ## Build the documentation site into docs/dist, which the server shows at /docs/

lock: $(UV) ## Resolve pyproject.toml anew into the two lock files
	$(UV) lock --quiet
	$(UV) export --quiet --locked --no-header --no-annotate --no-dev --group embedded -o requirements.lock
	$(UV) export --quiet --locked --no-header --no-annotate --all-groups -o requirements-dev.lock
	@rm uv.lock

help: ## Show this
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The stamps are newer than the locks they were installed from; a change of a lock installs again.
.venv/.installed: requirements.lock | $(RUN)
	@echo "Installing what requirements.lock pins into .venv …"
	@$(INSTALL) -r requirements.lock
	@touch $@

.venv/.installed-dev: requirements-dev.lock tests/clients/published.txt sdk-python/pyproject.toml mcp-server/pyproject.toml | $(RUN)
	@echo "Installing what requirements-dev.lock pins into .venv …"
	@$(INSTALL) -r requirements-dev.lock
	@$(INSTALL) --no-deps --target .venv/published -r tests/clients/published.txt
	@$(UV) pip install --quiet --python $(RUN) --no-deps --no-build-isolation -e sdk-python -e mcp-server
	@touch .venv/.installed $@

# The site is built by the node of the environment; what it is made from is everything in docs that is written by hand.
NPM := cd docs && PATH="$(CURDIR)/.venv/bin:$$PATH" npm
SITE := $(shell find docs/src docs/build docs/public docs/*.json docs/*.ts docs/index.html -type f 2>/dev/null) \
    CHANGELOG.md snapstate_project/static/snapstate/tokens.css

docs/dist/404.html: $(SITE) docs/node_modules/.installed
	@echo "Building the documentation …"
	@$(MANAGE) docs_facts
	@$(NPM) run --silent build
	@touch $@

docs/node_modules/.installed: docs/package-lock.json | .venv/.installed-dev
	@echo "Installing what docs/package-lock.json pins …"
	@$(NPM) ci --silent
	@touch $@

# The JavaScript SDK, by the same node.
SDK_NPM := cd sdk && PATH="$(CURDIR)/.venv/bin:$$PATH" npm

sdk/dist/.built: $(wildcard sdk/src/*.ts) sdk/package.json sdk/tsconfig.json sdk/tsdown.config.ts sdk/node_modules/.installed
	@echo "Building the JavaScript SDK …"
	@$(SDK_NPM) run --silent build
	@touch $@

sdk/node_modules/.installed: sdk/package-lock.json | .venv/.installed-dev
	@echo "Installing what sdk/package-lock.json pins …"
	@$(SDK_NPM) ci --silent
	@touch $@

# Other people's client and checks of MCP, for the tests of the bridge; no script of theirs runs here.
mcp-server/tests/node/node_modules/.installed: mcp-server/tests/node/package-lock.json | .venv/.installed-dev
	@echo "Installing what mcp-server/tests/node/package-lock.json pins …"
	@cd mcp-server/tests/node && PATH="$(CURDIR)/.venv/bin:$$PATH" npm ci --silent --ignore-scripts
	@touch $@

# What generates and compiles TypeScript clients of docs/openapi.json, for their tests; they are made in .venv/clients.
tests/clients/generated/node_modules/.installed: tests/clients/generated/package-lock.json | .venv/.installed-dev
	@echo "Installing what tests/clients/generated/package-lock.json pins …"
	@cd tests/clients/generated && PATH="$(CURDIR)/.venv/bin:$$PATH" npm ci --silent --ignore-scripts
	@touch $@

# .python-version names the Python we test with; any from 3.12 on will do where that one cannot be had.
$(RUN): | $(UV)
	@$(UV) venv --quiet --allow-existing .venv || $(UV) venv --quiet --allow-existing --python '>=3.12' .venv || { \
	    echo "There is no Python 3.12 or newer here, and none could be fetched: install one and run make again." >&2; exit 1; }

.tools/bin/uv:
	@echo "Fetching uv $(UV_VERSION), the installer, into .tools …"
	@for python in $(PYTHON) /usr/bin/python3; do \
	    rm -rf .tools; \
	    $$python -m venv .tools 2>/dev/null && .tools/bin/python -m pip install --quiet uv==$(UV_VERSION) && exit 0; \
	    $$python -m pip install --quiet --target .tools uv==$(UV_VERSION) 2>/dev/null && exit 0; \
	done; \
	rm -rf .tools; \
	echo "Cannot fetch uv: this needs python3 with its venv module (Debian and Ubuntu: apt-get install python3-venv)" >&2; \
	echo "and a package index. Or install uv by yourself (https://docs.astral.sh/uv/) and run make again." >&2; \
	exit 1
