# Every target does its own set-up in .venv (see tools/bootstrap.py); the second run finds it ready.
#   make PYTHON=python3.12 ...   another Python      make test ARGS="-k dot"   options for pytest
#   TORCH=no make test           without PyTorch     make test JOBS=8          tests at once
#   TRITON=no make test          without Triton    PROGRAMS=no make test     without asking apt

PYTHON ?= python3
JOBS   ?= 2
ARGS   ?=
BACKENDS ?= reference cpu_c dsa_sim:ascend910b2 dsa_sim:toy
BIN    := .venv/bin

BOOTSTRAP := $(PYTHON) tools/bootstrap.py
PYTEST    := $(BIN)/python -m pytest -n $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help demo test test-full conformance check fix bench docs clean

help: ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

demo: ## run the examples on every installed backend and compare with numpy
	@$(BOOTSTRAP) --compiler
	@$(BIN)/python -m examples.demo $(ARGS)

test: ## the tests, without those marked slow
	@$(BOOTSTRAP) --extras test --torch --triton --programs --compiler
	@$(PYTEST) -m "not slow" $(ARGS)

test-full: ## all tests
	@$(BOOTSTRAP) --extras test --torch --triton --programs --compiler
	@$(PYTEST) $(ARGS)

conformance: ## the whole suite on the backends in BACKENDS, reports into docs/conformance/
	@$(BOOTSTRAP) --extras test --compiler
	@for backend in $(BACKENDS); do \
	  report=docs/conformance/$$(echo $$backend | tr : -); \
	  $(BIN)/xdslc conformance $$backend --profile full -n $(JOBS) --json $$report.json \
	    --markdown $$report.md --html $$report.html --badge $$report.svg $(ARGS) || exit 1; \
	done

check: ## ruff, ruff format, mypy --strict, import-linter
	@$(BOOTSTRAP) --extras test,dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fix: ## let ruff repair and format what it can
	@$(BOOTSTRAP) --extras test,dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: ## the benchmarks (needs a quiet machine; see benchmarks/README.md)
	@$(BOOTSTRAP) --extras test --torch --triton --compiler
	@$(BIN)/python -m benchmarks.latency
	@$(BIN)/python -m benchmarks.cpu_vs_peers
	@$(BIN)/python -m benchmarks.sim_speed

docs: ## the documentation, into site/
	@$(BOOTSTRAP) --extras docs
	@$(BIN)/mkdocs build --strict

clean: ## remove what the targets made
	rm -rf .venv build dist site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
