# Run `make` for the list of targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Variables meant to be set on the command line, as in `make test PKG=./x/timers/market/...`.
PKG ?= ./...
# For each package. Its slowest takes a minute or two on two idle cores; the rest is for machines ten times slower.
TEST_TIMEOUT ?= 40m
BENCH ?= .
FUZZTIME ?= 20s
CONTRACTS ?= 50
BLOCKS ?= 200
DURATION ?= 300
TIMERS ?= 1000000
SDKPKG ?=
SEED ?= 1
SEEDS ?= 20
OPS ?= 5000
HISTORIES ?= 1000000
FILE ?=
SAMPLE ?= 20
MUTATED ?=
KILLS ?= 50
MIXES ?= 250
TESTS ?=
DOCKER ?= docker
FROM ?=

# The root's tags alone: those of the other Go modules begin with a directory.
VERSION := $(shell git describe --tags --match 'v*' --dirty 2>/dev/null | sed 's/^v//')
VERSION := $(or $(VERSION),$(shell cat VERSION)-dev)
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)

version_pkg := github.com/cosmos/cosmos-sdk/version
# Without debug information (-w) the binary is linked sooner. Stack traces and pprof need none; Delve builds its own binary.
ldflags := -w -X $(version_pkg).Name=timerd \
	-X $(version_pkg).AppName=timerd \
	-X $(version_pkg).Version=$(VERSION) \
	-X $(version_pkg).Commit=$(COMMIT)
# With -trimpath a build shares the cache with one in another directory: a new clone only links. Tests have no such flag, so
# that "go test" typed by hand and "make test" share theirs.
# No VCS stamping: the version above carries the commit.
build_flags := -trimpath -buildvcs=false -ldflags '$(ldflags)'

# Without debug information and symbols a test's binary is linked in half the time, and with gold, where it is installed,
# in a sixth less; there are dozens. The vet that go test has of its own reads every dependency of every package once more;
# `make lint` and `make verify` vet with more analyzers.
gold := $(if $(shell command -v ld.gold), -extldflags=-fuse-ld=gold)
test_flags := -ldflags='-s -w$(gold)' -vet=off

# What `make test` leaves to `make check`: packages that measure, simulate or run long histories, and tests by their names.
measured := /testutil/(bench|campaign|smallest)|/timers/lab/sim|/scripts/mutate$$
longest := ^(TestLong|TestFaults|TestSimulation)

# Tests have memory to spare: with a heap three times as large the garbage collector runs a third as often.
test_env := GOGC=300

proto_image := proto/timers-v1.binpb

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile

# Build

.PHONY: build
build: ## Build build/timerd
	@scripts/build.sh $(build_flags) -o build/timerd ./cmd/timerd

.PHONY: version
version: ## Write VERSION=1.0.0 everywhere and list the tags; without VERSION, check that all places agree
	@scripts/version.sh $(if $(filter command line,$(origin VERSION)),'$(VERSION)',-check)

.PHONY: changelog
changelog: ## Print the commits since the last release as a changelog has them, what breaks first
	@go run ./scripts/changelog

# What make check leaves out for its time: the long forms of tests, other builds, later lines of the SDK whole, and what is not Go.
before_release := check test-long histories campaign sims-long faults soak-contracts genesis-memory two-builds sdk54 sdk55 rust

.PHONY: before-release
before-release: ## Run all tests and all their long forms, one target after another, most of a day (FROM=faults goes on there)
	@from='$(FROM)'; for target in $(before_release); do \
		if [[ -n $$from && $$target != "$$from" ]]; then continue; fi; from=; \
		echo "== before-release: $$target"; $(MAKE) --no-print-directory "$$target" || { echo "== before-release: $$target failed" >&2; exit 1; }; \
	done; if [[ -n $$from ]]; then echo "before-release: FROM=$$from is none of $(before_release)" >&2; exit 2; fi

.PHONY: release
release: ## Write build/release: an archive that runs without Go, its bill of materials, and checksums
	@scripts/release.sh

.PHONY: reproduce
reproduce: ## Build the release twice from clones, with caches of their own, and compare the checksums (two first builds)
	@scripts/reproduce.sh $(SUMS)

.PHONY: image
image: release ## Build the container image timerd from the release (DOCKER=podman or buildah without docker)
	$(DOCKER) build --build-arg RELEASE="$$(basename build/release/timerd-*.tar.gz .tar.gz)" --tag timerd .

.PHONY: install
install: ## Install timerd into Go's bin directory
	go install $(build_flags) ./cmd/timerd

.PHONY: clean
clean: ## Remove build output, but not the tools, which take minutes to build (rm -rf build does that)
	@if [[ -d build ]]; then find build -mindepth 1 -maxdepth 1 ! -name tools -exec rm -rf {} +; fi
	@rm -rf .protodeps

# Test

# The packages of the module that know nothing of the SDK.
pure_packages := market schedule decimal watch logmap
# Prints a package if its tests draw properties: only these know the flags of rapid.
with_properties := {{$$p := .}}{{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{$$p.ImportPath}}{{end}}{{end}}

# Together, and first those with real nodes: they wait for blocks most of the time.
run_tests = $(test_env) scripts/gomods.sh run -together $(1) $(if $(filter ./...,$(PKG)),./testutil/system) $(PKG) -- \
	go test $(test_flags) -timeout $(TEST_TIMEOUT) $(2)

.PHONY: test
test: ## Run the tests but what measures, simulates or takes longest (PKG=./dir/... for some)
	@$(call run_tests,$(if $(filter ./...,$(PKG)),-skip '$(measured)'),-skip '$(longest)')

.PHONY: check
check: ## Run all tests, as continuous integration does: benchmarks, simulations, faults, later lines of the SDK too
	@rm -rf build/cpu && mkdir -p build/cpu
	@CPU_DIR='$(CURDIR)/build/cpu' $(call run_tests,,-exec '$(CURDIR)/scripts/cpu/exec.sh')
	@go run ./scripts/cpu build/cpu
	@for line in 0.54 0.55; do scripts/nextsdk.sh $$line -short; done
	@echo "left out: the Rust crates (make rust) and the contracts' source, of which tests take the committed code (make contracts)"

.PHONY: times
times: ## Print how long the tests of each package take, the longest first
	@scripts/gomods.sh each go test -count=1 -timeout $(TEST_TIMEOUT) ./... | awk '/^ok/ { printf "%8s %s\n", $$3, $$2 }' | sort -rn

.PHONY: test-core
test-core: ## Test x/timers with its own policies alone, no guest linked (`make check` does that with the keeper)
	cd x/timers && $(test_env) go test $(test_flags) -timeout $(TEST_TIMEOUT) -tags noguests \
		$$(go list ./... | grep -vE '/(policies|market)/(auction|score|tip|guests)$$')

.PHONY: test-nodes
test-nodes: ## Run all tests with real nodes, those that `make test` leaves out among them
	$(test_env) go test $(test_flags) -timeout $(TEST_TIMEOUT) ./testutil/system

.PHONY: sims
sims: ## Simulate the whole application for a few blocks with random messages
	$(test_env) go test $(test_flags) -timeout $(TEST_TIMEOUT) ./app ./testutil/exampleapp/after -run TestSimulation

.PHONY: sims-long
sims-long: ## Simulate for long, with many seeds
	go test -timeout 12h ./app -run 'TestSimulation$$' -args -sims.long -NumBlocks=200 -BlockSize=200

.PHONY: test-short
test-short: ## Run the tests without simulation, real nodes and benchmarks
	@$(test_env) scripts/gomods.sh run -skip '/testutil/system|$(measured)' $(PKG) -- go test $(test_flags) -timeout $(TEST_TIMEOUT) -skip '$(longest)'

.PHONY: test-long
test-long: race ## Run the tests that have a long form in that form, an hour or more
	cd x/timers && go test -timeout 60m ./market -run 'TestReadsInAStorm$$' -args -storm=100000
	cd x/timers && go test -timeout 60m ./genesis -run 'TestGenesisWithAnyNodeReplaced$$' -args -stride=1
	go test -timeout 60m ./testutil/bench/storm -args -storm.every
	go test -timeout 6h ./testutil/bench/worst -args -worst.all
	go test -timeout 60m ./testutil/bench/prices -args -prices.every
	cd x/timers && go test -timeout 60m ./keeper -args -keeper.long -keeper.crowd=20000 -keeper.times=100000 -keeper.expired=300000 -keeper.owners=200
	cd x/timers && go test -timeout 60m ./schedule -args -schedule.long -rapid.checks=5000
	go test -timeout 2h ./testutil/system -run TestApply_KilledAnywhereEndsAtTheFile -v -args -apply.kills=200
	cd lab && go test -timeout 60m ./replay -args -rapid.checks=100
	cd lab && go test -timeout 80m ./sim/browser -args -browser.every
	cd x/timers && go test -timeout 60m $$(go list -f '$(with_properties)' $(addprefix ./,$(addsuffix /...,$(pure_packages)))) -args -rapid.checks=5000

.PHONY: two-builds
two-builds: ## Compare what two builds refuse, one with -trimpath from another directory, byte by byte (FAST=1: without the EVM)
	@scripts/two-builds.sh

.PHONY: race
race: ## Run under the race detector what has process memory, with queries beside blocks; the first time it compiles all once more
	cd x/timers && $(test_env) go test -race $(test_flags) -timeout 30m ./types ./state ./actors ./report ./sandbox
	cd x/timers && $(test_env) go test -race $(test_flags) -timeout 30m ./testutil/lab -run 'TestQueries_RunBesideBlocks$$' -count=3

.PHONY: genesis-memory
genesis-memory: ## Measure the memory of importing and exporting TIMERS (1000000) timers, about half an hour
	go test -timeout 4h -v ./app -run 'TestLongGenesisNeedsLittleMemory$$' -args -genesis.timers=$(TIMERS)

.PHONY: cover
cover: ## Print what share of each package the tests execute (PKG=./dir/... for some)
	@scripts/cover.sh $(PKG)

.PHONY: model
model: ## Check the model in spec/ by SAMPLES (20) random runs of STEPS (150) steps (needs node, and a network once)
	@scripts/model.sh check

.PHONY: model-mutants
model-mutants: ## Hold that each property of the model fails in a model that breaks it
	@scripts/model.sh mutants

.PHONY: model-traces
model-traces: ## Replay fresh traces of the model on the module (SAMPLES, STEPS, SEED)
	@scripts/model.sh traces "$(CURDIR)/build/traces"
	cd lab && go test $(test_flags) ./trace -args -traces='$(CURDIR)/build/traces/*.itf.json'

.PHONY: histories
histories: ## Live HISTORIES (1000000) random histories of a timer, from SEED (1), in the module and in its twin, every operation after every other in every state
	cd x/timers && go test $(test_flags) -timeout 12h -v ./recurrence -run 'TestHistories_AreThoseOfTheTwin$$' -args \
		-histories=$(HISTORIES) -histories.seed=$(SEED) -histories.every
	cd x/timers && go test $(test_flags) -timeout 12h -v ./testutil/twin -run 'TestWorld_LivesAnyHistory$$' -args -twin.histories=$(HISTORIES)
	cd x/timers && go test $(test_flags) -timeout 12h -v ./keeper -run 'TestTwin_LivesTheSameHistories$$' -args -twin.histories=$$(($(HISTORIES) / 100))

.PHONY: campaign
campaign: ## Draw SEEDS (20) histories of OPS (5000) operations each, the first from SEED (1), and shrink what fails (FILE=... runs such a one again)
	go test $(test_flags) -timeout 24h -v ./testutil/campaign -run 'TestCampaign$$' -args \
		-campaign.seed=$(SEED) -campaign.seeds=$(SEEDS) -campaign.ops=$(OPS) -campaign.file='$(abspath $(FILE))'

.PHONY: faults
faults: ## Let nodes under load be killed (KILLS, 50), cut off, filled up, upgraded and misled, and account for every timer; some 20 minutes
	go test $(test_flags) -timeout 2h -v ./testutil/system -run 'TestFaults$$' -args -faults.all -faults.kills=$(KILLS) -faults.seed=$(SEED)

# Packages below x/timers whose mutants are tested.
mutated := lane fairness calendar schedule policy policy/fifo policy/eip1559 policy/auction policy/score policy/tip
.PHONY: mutants
mutants: ## Tell which of SAMPLE (20) small changes of each pure package (MUTATED="engine" for others, TESTS for whose tests run too) no test notices
	go build -o build/mutate ./scripts/mutate
	cd x/timers && ../../build/mutate -sample $(SAMPLE) -seed $(SEED) -tests '$(TESTS)' $(addprefix ./,$(or $(MUTATED),$(mutated)))

.PHONY: soak-contracts
soak-contracts: ## Let CONTRACTS (50) beat for BLOCKS (200) on four validators, of which one restarts, and account for each beat
	go test -timeout 60m -v ./testutil/system -run 'TestLongContractsBeatOnFourValidators$$' -args -contracts=$(CONTRACTS) -blocks=$(BLOCKS)

.PHONY: worst
worst: ## Search MIXES (250) workloads under each config for the most expensive blocks, some 15 minutes, and keep them
	@mkdir -p build
	go run ./testutil/bench/cmd/worstsearch -mixes $(MIXES) >build/mixes.txt
	cp build/mixes.txt testutil/bench/worst/testdata/mixes.txt

.PHONY: bench
bench: ## Print what timers cost, in a quarter of an hour (BENCHFLAGS=-quick: in a minute)
	go run ./testutil/bench/cmd/timersbench $(BENCHFLAGS)

.PHONY: gobench
gobench: ## Run Go's benchmarks (BENCH=regexp for some)
	@scripts/gomods.sh run ./x/timers/... -- go test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m

# Site

SITE_VERSION ?= $(or $(shell git describe --tags --exact-match --match 'v*' 2>/dev/null),main)

.PHONY: site
site: ## Build the documentation site for SITE_VERSION (the tag, or main; needs Node.js, and a network once)
	@scripts/site.sh "$(SITE_VERSION)"

.PHONY: site-browser
site-browser: site ## Check the site in Chromium, pictures in build/pictures/site (SITE_TABLES=all: all tables)
	cd site && SITE_VERSION="$(SITE_VERSION)" npm run --silent test:browser

.PHONY: clients-ts
clients-ts: build ## Generate, build and test the TypeScript client, on a node too (needs Node.js, and a network once)
	cd clients/ts && npm install --no-audit --no-fund --no-package-lock --silent && ./generate.sh >/dev/null && npm test && \
		./node-test.sh ../../build/timerd test:node && INDEXER=null ./node-test.sh ../../build/timerd test:node

.PHONY: clients-ts-browser
clients-ts-browser: clients-ts ## Use the example page of the TypeScript client in Chromium, with a wallet, on a node (needs playwright-core)
	cd clients/ts && ./node-test.sh ../../build/timerd test:browser

.PHONY: rust
rust: ## Check the Rust crates' format, lint and test them and the template (needs Rust 1.85, rustfmt and clippy, and a network once)
	@scripts/rust.sh

.PHONY: fuzz
fuzz: ## Fuzz every fuzz target for FUZZTIME each (20s)
	@scripts/fuzz.sh $(FUZZTIME)

# Contracts

.PHONY: evm
evm: ## Test evmbinding alone, a chain of cosmos/evm in memory included (`make check` does too; the first build takes minutes)
	for dir in . testutil/evmapp; do (cd evmbinding/$$dir && $(test_env) go test $(test_flags) -timeout $(TEST_TIMEOUT) -count=1 ./...) || exit; done

.PHONY: evm-node
evm-node: ## Run a chain of cosmos/evm as a node, and look at its timers by viem and ethers (needs Node.js, and a network once)
	cd evmbinding/testutil/evmapp && go build -ldflags '-s -w' -o '$(CURDIR)/build/evmappd' ./cmd/evmappd
	cd evmbinding/testutil/evmapp/nodetest && npm ci --no-audit --no-fund --silent && \
		export EVMAPPD='$(CURDIR)/build/evmappd' && npm test && INDEXER=1 npm test && DURATION=10 npm run four

.PHONY: evm-four
evm-four: ## Let four validators of cosmos/evm agree for DURATION seconds, and their timers go on (needs Node.js)
	cd evmbinding/testutil/evmapp && go build -ldflags '-s -w' -o '$(CURDIR)/build/evmappd' ./cmd/evmappd
	cd evmbinding/testutil/evmapp/nodetest && npm ci --no-audit --no-fund --silent && \
		EVMAPPD='$(CURDIR)/build/evmappd' DURATION=$(DURATION) npm run four

.PHONY: evm-hardhat
evm-hardhat: ## Let a hardhat project schedule a callback on a chain of cosmos/evm and see it (needs Node.js, and a network once)
	cd evmbinding/testutil/evmapp && go build -ldflags '-s -w' -o '$(CURDIR)/build/evmappd' ./cmd/evmappd
	cd evmbinding/testutil/evmapp/nodetest && npm ci --no-audit --no-fund --silent
	cd evmbinding/testutil/evmapp/hardhat && npm ci --no-audit --no-fund --silent && EVMAPPD='$(CURDIR)/build/evmappd' npm test

.PHONY: evm-contracts
evm-contracts: ## Compile the Solidity contracts again and compare them with the committed ones (needs Node.js, and a network once)
	@mkdir -p build/solc/out && npm install --prefix build/solc --no-audit --no-fund --no-package-lock --silent solc@0.8.30
	@node evmbinding/contracts/compile.mjs build/solc/out build/solc
	@diff evmbinding/contracts/SHA256SUMS build/solc/out/SHA256SUMS
	@echo "the committed contracts are what solc compiles evmbinding's sources to"

.PHONY: contracts
contracts: ## Build the contracts again, compare them with the committed ones and check them (needs Debian 12's Rust)
	@scripts/contracts.sh

# Protobuf

.PHONY: proto
proto: ## Generate Go code from proto/
	@scripts/protogen.sh

.PHONY: proto-lint
proto-lint: ## Lint proto/ and check its format
	@scripts/tools.sh
	@scripts/protodeps.sh
	@build/tools/buf lint proto
	@build/tools/buf format proto --diff --exit-code

.PHONY: proto-breaking
proto-breaking: ## Compare proto/ with the committed release image for breaking changes
	@scripts/tools.sh
	@scripts/protodeps.sh
	@build/tools/buf breaking proto --against $(proto_image) --exclude-imports

.PHONY: proto-image
proto-image: ## Write the image that proto-breaking compares with (at a release)
	@scripts/tools.sh
	@scripts/protodeps.sh
	@build/tools/buf build proto --exclude-source-info --output $(proto_image)

.PHONY: proto-swagger
proto-swagger: ## Write the OpenAPI description that the node serves to app/swagger/
	@scripts/protogen.sh swagger

# Code quality

.PHONY: lint
lint: ## Run golangci-lint (the first run builds it, which takes minutes)
	@scripts/install-lint.sh
	@scripts/gomods.sh each "$(CURDIR)/build/tools/golangci-lint" run ./...

.PHONY: fmt
fmt: ## Format Go code and proto files
	@scripts/install-lint.sh
	@scripts/tools.sh
	@scripts/protodeps.sh
	@scripts/gomods.sh each "$(CURDIR)/build/tools/golangci-lint" fmt ./...
	@build/tools/buf format proto --write

.PHONY: house
house: ## Measure the module's structure, and fail if it breaks a limit (HOUSEFLAGS=-report only prints, -v lists more)
	@go run ./scripts/house $(HOUSEFLAGS)

.PHONY: trace
trace: ## Count the functions that an empty block, scheduling and a fire pass, and their lines, and fail above the limits (-v lists them: TRACEFLAGS=-v)
	@go run ./scripts/trace $(TRACEFLAGS)

.PHONY: rules
rules: ## Hold each rule of the module's README to a test (RULESFLAGS=-v lists the tests)
	@go run ./scripts/rules $(RULESFLAGS)

.PHONY: alerts
alerts: ## Check and test the alert rules (needs Prometheus' promtool)
	promtool check rules ops/prometheus/alerts.yml
	promtool test rules ops/prometheus/alerts_test.yml

.PHONY: tidy
tidy: ## Tidy the go.mod of each module
	@scripts/gomods.sh each go mod tidy

.PHONY: verify
verify: ## Check all that must hold before a merge except the tests
	@scripts/verify.sh

.PHONY: inherit
inherit: ## Print what a chain takes over that imports x/timers: versions, Go modules, packages
	@scripts/inherit.sh

.PHONY: sdk54
sdk54: ## Test all but timerd on SDK 0.54 (SDKPKG=./dir/... for packages of x/timers, chains for all others)
	@scripts/nextsdk.sh 0.54 $(SDKPKG)

.PHONY: sdk55
sdk55: ## Test x/timers and the lab on SDK 0.55
	@scripts/nextsdk.sh 0.55 $(SDKPKG)

.PHONY: feemarkets
feemarkets: ## Run the fee markets' adapters on the fee markets themselves; the first run downloads and compiles those
	cd tools/feemarkets && go vet ./... && go test ./...

# Local network

.PHONY: demo
demo: ## Run the demonstration on a local node (DEMOFLAGS=-dashboard in the browser too)
	@scripts/demo.sh $(DEMOFLAGS)

.PHONY: localnet
localnet: build ## Start a local network of validators (DASHBOARD=1 with a dashboard)
	@scripts/localnet.sh start

.PHONY: dashboard-browser
dashboard-browser: ## Look at the dashboard of a node in Chromium, pictures in build/pictures (needs node and playwright-core)
	go test -tags browser -count=1 -timeout $(TEST_TIMEOUT) ./testutil/system -run InABrowser

.PHONY: pictures
pictures: build ## Make the README's pictures anew (needs node, Chromium, playwright-core and @xterm/xterm)
	@scripts/pictures.sh

.PHONY: dashboard-postgres
dashboard-postgres: ## Test the dashboard's history on a PostgreSQL server of its own too (needs initdb)
	@scripts/postgres.sh

.PHONY: dashboard-history
dashboard-history: ## Time each endpoint of the dashboard with EVENTS (2000000) events, on SQLite and PostgreSQL (needs initdb, 2 GB)
	@EVENTS=$(or $(EVENTS),2000000) scripts/postgres.sh -timeout 60m

.PHONY: dashboard
dashboard: build ## Serve the dashboard of the local network at http://127.0.0.1:27006
	@scripts/localnet.sh dashboard

.PHONY: localnet-stop
localnet-stop: ## Stop the local network
	@scripts/localnet.sh stop

.PHONY: localnet-status
localnet-status: ## Show whether the local network runs
	@scripts/localnet.sh status
