# `make demo` runs the main job and `make test` the tests; each sets up all it needs first (tools/setup).
# The other targets are for work on cepc itself.

.PHONY: demo test quick long long-run check lint types format wheel bench compare pictures clean
.DEFAULT_GOAL := demo

ifneq ($(shell command -v uv 2>/dev/null),)
RUN := uv run --quiet --no-sync
INSTALL_BENCH := uv sync --quiet --inexact --group bench
else
INSTALL_BENCH := .venv/bin/pip install --quiet --group bench
RUN := PATH="$(CURDIR)/.venv/bin:$$PATH"
endif

# Two workers, as on a small CI machine; everything that needs Spark shares one of them (tests/conftest.py).
WORKERS ?= 2
PYTEST_ARGS ?=
EXAMPLE ?= examples/food_delivery

# The stamps are inside .venv, so that removing .venv is enough to start again.
.venv/.run: pyproject.toml tools/setup
	@PYTHON="$(PYTHON)" tools/setup run

.venv/.spark: pyproject.toml tools/setup
	@PYTHON="$(PYTHON)" tools/setup spark

.venv/.ready: pyproject.toml tools/setup
	@PYTHON="$(PYTHON)" tools/setup

demo: $(if $(filter spark,$(ENGINE)),.venv/.spark,.venv/.run)  # EXAMPLE=examples/… runs another one; ENGINE=spark runs its job too
	@mkdir -p out
	$(RUN) python $(EXAMPLE)/generate.py out/events.parquet --events 20000
	$(RUN) cepc run $(EXAMPLE)/queries.cep --events out/events.parquet --format table --limit 3
	$(if $(filter spark,$(ENGINE)),$(RUN) python tools/on_spark.py $(EXAMPLE)/queries.cep out/events.parquet out/on_spark)

PYTEST := $(RUN) pytest -q -n $(WORKERS) --dist loadgroup

test: .venv/.ready  # everything but the long tests: minutes
	$(PYTEST) -m "not long" $(PYTEST_ARGS)

quick: .venv/.ready  # without Spark and other processes: a minute
	$(PYTEST) -m "not spark and not long and not process and not unhurried" $(PYTEST_ARGS)

# Properties draw their cases by number: `test` has the first four of each, and `long` goes on with those after them.
long: .venv/.ready  # the long tests, and the properties' further cases: 25 minutes
	HYPOTHESIS_PROFILE=ci $(PYTEST) -m "long or property or hypothesis" $(PYTEST_ARGS)

PROGRAMS ?= 100000
long-run: .venv/.ready  # random programs in every way of running them, by the ten thousand; docs/testing.md says how to read it
	$(RUN) python -m tests.long_run --programs $(PROGRAMS) --workers $(WORKERS)

check: test lint types

lint: .venv/.ready
	$(RUN) ruff check
	$(RUN) ruff format --check

types: .venv/.ready
	$(RUN) mypy

format: .venv/.ready
	$(RUN) ruff check --fix
	$(RUN) ruff format

wheel: .venv/.ready  # into dist/
	rm -rf dist
	$(RUN) hatchling build -t wheel

bench: .venv/.ready  # docs/benchmarks.md says what each measures; the second takes some minutes
	$(RUN) python bench/startup.py
	$(RUN) python -m bench.spark_batch

.venv/.bench: .venv/.ready  # what draws the plots
	@$(INSTALL_BENCH)
	@touch $@

FLINK ?= out/flink
compare: .venv/.bench  # with Flink and with PySpark by hand: half an hour; Flink's environment is made in FLINK: 850 MB
	$(RUN) python -m bench.comparison --flink $(FLINK)

pictures: .venv/.ready  # what the README shows, which a test compares
	$(RUN) cepc explain examples/food_delivery/queries.cep -o docs/pictures/food_delivery.svg

clean:
	rm -rf .venv dist out .mypy_cache .pytest_cache .ruff_cache .hypothesis
