# `make help` lists the targets.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
DEMO := $(BIN)/python run.py
.DEFAULT_GOAL := help
.PHONY: help venv docs docs-pictures docs-site demo image test test-all test-quick faults faults-cluster outages soak quick-servers all-servers linted-with-quick-servers linted-with-all-servers browser lint style types unit contract integration stored truth chart e2e e2e-all e2e-db servers cluster cluster-down bench published audit sbom clean
PROCESSES ?= 2
# The longest groups of tests first, as tests/conftest.py sorts them, not those of the most tests.
PARALLEL = --numprocesses=$(PROCESSES) --dist=loadgroup --no-loadscope-reorder
# Servers that run elsewhere: ADDRESS=cratedb=http://crate@host:4200, or ADDRESSES=FILE.
ADDRESSED := $(strip $(if $(ADDRESS),--address '$(ADDRESS)') $(if $(ADDRESSES),--addresses '$(ADDRESSES)'))
# Tests start some thousand Python processes, each of which would compile our modules again.
unexport PYTHONDONTWRITEBYTECODE
IMAGE_PINS := sed '/^\# Not in the image/,$$d' requirements.txt

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

venv: .venv/ready ## make the environment .venv, with what SQLite, PostgreSQL and pages need

.venv/ready: requirements.txt pyproject.toml hatch_build.py
	@$(PYTHON) -m venv .venv || { \
	  echo "this Python cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; \
	  rm -rf .venv; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements.txt -e '.[pages,postgres]'
	@touch $@

.venv/ready-dev: .venv/ready requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

demo: venv ## an insert sweep and the queries on SQLite, verified, in under two minutes
	$(DEMO) insert --target sqlite --workers 1,2,4 --batch 1000 --num-inserts 200000
	$(DEMO) query --target sqlite

image: ## build the image for Kubernetes; simulator/image.sh explains IMAGE=, ARCHIVE=, BASE=...
	@sh simulator/image.sh

test: SERVERS := --servers=quick -m 'not rare'
test: linted-with-quick-servers browser unit chart stored ## everything on the quick database servers; fetches what it needs

test-all: SERVERS := --servers=all
test-all: export FUZZ := thorough
test-all: linted-with-all-servers browser unit chart stored ## everything on every database server, except on a cluster: e2e-all; the first time builds for an hour

test-quick: .venv/ready-dev ## what to run between two edits: unit tests; SQLite, DuckDB and PostgreSQL; four minutes
	$(BIN)/ruff check .
	$(BIN)/pytest tests/unit --ignore=tests/unit/fuzz -m 'not rare' $(PARALLEL)
	$(BIN)/pytest tests/contract/test_contract.py tests/integration/test_first_steps.py -k 'first_steps or sqlite or duckdb or postgres] or postgres-' --servers=postgres -m 'not rare' $(PARALLEL)

lint: style types ## style, types and import rules

style: .venv/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: .venv/ready-dev
	$(BIN)/mypy

servers: .venv/ready-dev ## list the database servers for tests; fetch some: NAME="mysql mariadb"
	$(BIN)/python -m tests.servers $(if $(NAME),install $(NAME),list)

quick-servers all-servers: .venv/ready-dev
	$(BIN)/python -m tests.servers install $(@:-servers=)

# The checks need two processors, and the downloads need the network.
linted-with-quick-servers linted-with-all-servers: .venv/ready-dev
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=line lint $(@:linted-with-%=%)

browser: .venv/ready-dev
	$(BIN)/python -m tests.browser install

truth: .venv/ready-dev ## compare every figure with the account of a proxy before five servers, a few minutes
	$(BIN)/pytest tests/truth $(SERVERS)

unit contract integration: .venv/ready-dev
	$(BIN)/pytest tests/$@ $(SERVERS) $(PARALLEL)

# One run, so that a server starts once. Unit tests run apart: they count the processes of their own.
# Many of these tests wait, for servers and for the ends of faults, so two cores serve four processes.
stored: PROCESSES = 4
stored: .venv/ready-dev
	$(BIN)/pytest tests/contract tests/integration tests/faults tests/truth $(SERVERS) $(PARALLEL)

faults: .venv/ready-dev ## kill, stop and cut off processes at random moments; 200 cells, or ARGS="--seed 7 --cell 12"
	$(BIN)/python -m tests.faults $(ARGS)

outages: .venv/ready-dev ## what faults do to each database, as a table; an hour with every server
	$(BIN)/python tests/perf/outages.py

soak: .venv/ready-dev ## an hour of mixed load on three databases: memory, files and threads of each process, as slopes
	$(BIN)/python tests/perf/soak.py

faults-cluster: .venv/ready-dev ## the same with pods, nodes and the API server of a test cluster; 22 cells
	$(BIN)/python -m tests.faults.cluster $(ARGS)

chart: .venv/ready-dev ## test the Helm chart: what it renders, and what it refuses
	@command -v helm >/dev/null || tests/cluster/cluster.sh helm >/dev/null
	$(BIN)/pytest tests/chart

e2e: .venv/ready-dev ## test on the cluster of KUBECONFIG, or on a test cluster that it starts; what most runs need
	$(BIN)/pytest tests/e2e -m 'not rare' $(PARALLEL)

e2e-all: .venv/ready-dev ## every capability, with lost nodes, 1,000 workers, vendors' schemas, long endings and every database
	$(BIN)/pytest tests/e2e

e2e-db: .venv/ready-dev ## install databases on the cluster as dbinstall says, measure, remove; NAME=questdb picks one; ADDRESS=TARGET=URL measures a server that runs elsewhere
	$(BIN)/pytest tests/e2e/test_$(if $(ADDRESSED),elsewhere,databases).py -s $(ADDRESSED) $(if $(NAME),-k '$(NAME)')

cluster: ## start a test cluster on this machine (Debian, as root; see tests/cluster)
	@tests/cluster/cluster.sh build
	@tests/cluster/cluster.sh up

cluster-down: ## stop the test cluster and remove its files
	@tests/cluster/cluster.sh down

docs: venv ## rewrite the generated parts of docs/
	$(BIN)/python -m tools.reference

docs-pictures: .venv/ready-dev ## run the tutorial, and draw its pictures again
	PICTURES=1 $(BIN)/pytest tests/integration/test_docs.py -k 'commands_of_a_page and tutorial'

docs-site: .venv/ready-dev ## write docs/ as a site to site/; every link is checked; SOURCE=URL of the source's files, for links out of docs/
	$(BIN)/python -m sphinx -q -W --keep-going -c tools -d .cache/site docs site

bench: .venv/ready-dev ## print the performance figures, side by side; an hour with every server
	$(BIN)/python tests/perf/walks.py
	$(BIN)/python tests/perf/encode.py
	$(BIN)/python tests/perf/truth.py
	$(BIN)/python tests/perf/pipeline.py
	$(BIN)/python tests/perf/beside.py
	$(BIN)/python tests/perf/compare.py
	$(BIN)/python tests/perf/page.py
	$(BIN)/python tests/perf/fresh_checks.py
	$(BIN)/python tests/perf/declared.py
	$(BIN)/python tests/perf/changes.py
	$(BIN)/python tests/perf/connections.py mysql_innodb
	$(BIN)/python tests/perf/tls.py
	$(BIN)/python tests/perf/aggregates.py
	$(BIN)/python tests/perf/drivers.py
	$(BIN)/python tests/perf/many_workers.py
	$(BIN)/python tests/perf/growth.py

published: .venv/ready-dev $(if $(ADDRESSED),,all-servers) ## measure results/published/ and its tables again, two hours at a time; ONLY=postgresql refreshes one row; PLAN=questions answers the questions of the site; DOCUMENT=iot repeats a document; ADDRESS=TARGET=URL is a row of a server that runs elsewhere
	$(BIN)/python -m tests.published measure $(if $(PLAN),--plan $(PLAN)) $(if $(DOCUMENT),--document $(DOCUMENT)) $(if $(ONLY),--only $(ONLY)) $(if $(HOURS),--hours $(HOURS)) $(ADDRESSED)

audit: .venv/ready-dev ## report known vulnerabilities of every pinned package; asks pypi.org
	$(BIN)/pip-audit --strict --no-deps --disable-pip --progress-spinner=off --requirement=requirements.txt

sbom: .venv/ready-dev ## write what the image and the command line consist of to sbom-*.cdx.json (CycloneDX)
	@$(IMAGE_PINS) | $(BIN)/cyclonedx-py requirements \
	  --output-reproducible --output-file=sbom-image.cdx.json -
	@$(BIN)/cyclonedx-py requirements \
	  --output-reproducible --output-file=sbom-command-line.cdx.json requirements.txt
	@ls sbom-*.cdx.json

clean: ## remove the environment and the caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis site sbom-*.cdx.json
