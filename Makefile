# memex: everything a checkout needs, from nothing but Python 3.11, make and git.
#
#   make setup   .venv, locked packages, the embedding model (under a second when nothing is to do)
#   make run     start the service          make test    run the tests
#   make clients try memex with real clients from npm (Claude Code, Codex, OpenCode, MCP conformance)
#   make check   lint, format, types, architecture
#   make bench   measure                    make lock    renew requirements.lock
#   make reference   write docs/reference again
#
# Settings are environment variables (MEMEX_PORT=8010 make run). PYTHON chooses another interpreter,
# PYTEST_ARGS and BENCH_ARGS are handed on.

.DEFAULT_GOAL := help
.PHONY: help setup env run test clients lint check format bench lock reference clean
MAKEFLAGS += --no-print-directory

PY := .venv/bin/python
PYTEST_ARGS ?=
BENCH_ARGS ?=

help:
	@sed -n 's/^#   //p' Makefile

# scripts/bootstrap.py keeps a stamp by content; nothing below it is a file target, so that a checkout
# in a folder with spaces works and a changed clock does not matter.
env:
	@if [ -z "$${PYTHON:-}" ] && [ -x $(PY) ] && $(PY) -I -S scripts/bootstrap.py --check 2>/dev/null; then exit 0; fi; \
	for python in "$${PYTHON:-}" python3.11 python3.12 python3.13 python3; do \
	  [ -n "$$python" ] || continue; \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec "$$python" scripts/bootstrap.py; \
	  fi; \
	  [ "$$python" != "$${PYTHON:-}" ] || { echo "setup: PYTHON=$$python is not a Python 3.11 or newer" >&2; exit 1; }; \
	done; \
	echo "setup: memex needs Python 3.11 or newer as python3.11, python3.12, python3.13 or python3" >&2; \
	echo "setup: found: $$(python3 --version 2>&1 || echo 'no python3'); PYTHON=/path/to/python3 make setup names another" >&2; \
	exit 1

setup: env
	@.venv/bin/memex setup

# It makes what is missing, as `memex setup` does.
run: env
	@exec .venv/bin/memex serve

# Files go out in the order of their folders, so that the short tests of tests/unit come last and even out the workers.
# The agent that the plugin's tests load it into; without it (no network) they are skipped with that reason.
test: setup
	@$(PY) scripts/hermes_host.py || true
	@exec $(PY) -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

clients: setup
	@exec $(PY) -m pytest -q -m clients tests/clients tests/hermes $(PYTEST_ARGS)

lint: env
	@echo "check: ruff" && $(PY) -m ruff check --quiet . && $(PY) -m ruff format --check --quiet . && \
	echo "check: mypy" && $(PY) -m mypy --no-error-summary

check: lint
	@echo "check: architecture" && $(PY) -m pytest -q tests/architecture

format: env
	@$(PY) -m ruff check --fix --quiet . ; $(PY) -m ruff format --quiet .

bench: setup
	@exec $(PY) -m bench $(BENCH_ARGS)

reference: env
	@exec $(PY) scripts/reference.py

lock: env
	@echo "lock: resolving" && $(PY) scripts/lock.py

clean:
	@rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
