# What one does with Assay. Needs make and Python 3.11 to 3.13 with its venv module; brings everything else.
# On Debian: apt-get install make python3-venv

PORT ?= 8000
DATA ?= .data/demo
# Workers that run the tests side by side.
TEST_WORKERS ?= 2

PYTHON := $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { echo $$p; break; }; done)
# The environments say by a stamp which requirements they hold.
RUN_STAMP = .venv/run-$(shell cksum < requirements.txt | tr ' ' '-')
DEV_STAMP = .venv/dev-$(shell cat requirements.txt requirements-dev.txt | cksum | tr ' ' '-')
# Values for checks that load the settings and connect to nothing.
UNUSED_SERVERS = DATABASE_URL=postgresql:///unused REDIS_URL=redis://localhost:1 SECRET_KEY=unused

.PHONY: demo test test-consumers lint lock bench bench-peers venv venv-dev chromium
.DEFAULT_GOAL := demo

demo: venv  ## start everything on this machine: make demo [PORT=8000 DATA=.data/demo]
	@exec .venv/bin/python -m annotator.demo --port "$(PORT)" --data "$(DATA)"

test: venv-dev chromium  ## all tests, against real servers and a real browser
	.venv/bin/python -m pytest -n $(TEST_WORKERS) $(TESTS)

test-consumers: venv-dev  ## exports in the hands of TRL, verl, Inspect and others, which it installs: some gigabytes
	CONSUMERS=1 .venv/bin/python -m pytest tests/consumers $(ARGS)

lint: venv-dev  ## style, types, and who may import whom
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	$(UNUSED_SERVERS) .venv/bin/mypy
	$(UNUSED_SERVERS) .venv/bin/lint-imports

bench: venv-dev  ## how fast claiming and submitting are, as ratios
	.venv/bin/python -m tests.bench $(ARGS)

bench-peers: venv-dev chromium  ## the same work on peers, side by side
	.venv/bin/python -m tests.bench peers keyboard_peers agreement_peers $(ARGS)

lock: venv-dev  ## pin what pyproject.toml asks for, with hashes
	.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" -o requirements.txt pyproject.toml
	.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" --extra dev -c requirements.txt -o requirements-dev.txt pyproject.toml

venv: $(RUN_STAMP)
venv-dev: $(DEV_STAMP)

# An environment for development holds all of the plain one, so it will do for the demo.
$(RUN_STAMP):
	@[ -e $(DEV_STAMP) ] || { $(call new_environment) && \
		.venv/bin/python -m pip install $(PIP_OPTIONS) --require-hashes -r requirements.txt && rm -f .venv/run-* .venv/dev-*; }
	@touch $@

$(DEV_STAMP):
	@$(call new_environment)
	@.venv/bin/python -m pip install $(PIP_OPTIONS) --require-hashes -r requirements-dev.txt && rm -f .venv/run-* .venv/dev-*
	@touch $@ $(RUN_STAMP)

PIP_OPTIONS = --quiet --disable-pip-version-check --no-input
define new_environment
{ [ -n "$(PYTHON)" ] || { echo "Assay needs Python 3.11, 3.12 or 3.13 with its venv module (on Debian: apt-get install python3-venv)." >&2; exit 1; }; } && \
{ [ -x .venv/bin/pip ] || { echo "Building the environment in .venv; this takes a minute …" && $(PYTHON) -m venv .venv; }; }
endef

chromium:
	@command -v chromium >/dev/null || [ -n "$$CHROMIUM" ] || { \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing Chromium for the browser tests …" && \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
		echo "THERE IS NO CHROMIUM, SO NOTHING WILL BE TRIED IN A BROWSER: install the package chromium." >&2
