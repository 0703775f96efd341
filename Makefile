# Works in a fresh clone with Go alone. `make test` installs PostgreSQL if it is missing (.ci/postgres).
.DEFAULT_GOAL := help
.PHONY: check test unit integration soak format lint fresh tidy vulncheck postgres conformance schema build run generate help
# `fresh` rewrites files that the other checks read.
.NOTPARALLEL:

# Go refuses to build if git does not know the commit.
vcs := $(shell git rev-parse --verify HEAD >/dev/null 2>&1 || echo -buildvcs=false)

# Separate modules. -short skips the drill.
modules := bench soak
test-modules = for module in $(modules); do go test -C $$module -short ./... || exit; done

## make check          before a commit: format, lint, and all tests on SQLite
check: format lint unit

## make test           before a pull request: all tests on SQLite and PostgreSQL; generated code and go.mod are current
test: format fresh tidy integration

unit:
	go test -pgo=off -short ./...
	$(test-modules)

# -count=1, because Go's test cache does not see the database server.
integration: postgres
	go test -pgo=off -count=1 -timeout 15m ./...
	$(test-modules)

## make race           packages with concurrency under the race detector; needs a C compiler
# Packages above db run on SQLite only, because their concurrency does not depend on the engine.
# SQLite is C translated to Go. It is excluded, because it would take four times as long. Its driver is
# included: shared code, such as sync.Map's, would otherwise be linked without the detector.
.PHONY: race
# Skipped are long tests of one goroutine, which count or compare much; make test runs them.
race-skip := TestFold|TestHistoryModel|TestNaturalKey|TestPagesWhileRowsChange|TestParentsOfAWholeList|TestRecentChangesOfRareFilter|TestSearchKeyUpgrade|TestSearchRule|TestShortSubstrings|TestStatements|TestUndoModel|TestWords
race := go test -pgo=off -count=1 -timeout 15m -race -gcflags=modernc.org/sqlite/lib=-race=false -skip '^($(race-skip))$$'
race: postgres
	$(race) ./db ./db/batch
	$(race) -short ./accounts ./cmd/catalogue/serve ./db/archive ./graph ./graph/cost ./graph/model ./graph/model/lang ./graph/plan ./importer/... ./resolvers/... ./rest/... ./edge/... ./server/... ./webhooks ./web

## make soak           random tests ten times as long, honest clients under attack, and faults of a database with standbys; as root on Debian
# The drills print times, so they run alone. CATALOGUE_DRILL_PROGRAMS=old:new measures two programs in turn.
# The tests that use dbtest.Soak or dbtest.Runs: add new ones, and their packages below.
soak-tests := TestCacheIsNeverStale|TestHeapOfLongDocuments|TestHistoryModel|TestHostileFiles|TestLedger|TestLinearizable|TestLogSize|TestPromotion|TestReference|TestReferenceOfFailures|TestReplicaIsStrict|TestStreamsUnderAbuse
soak: postgres
	@{ command -v patroni && command -v haproxy && command -v etcd; } >/dev/null || { echo 'Installing Patroni, etcd and HAProxy for a drill.'; apt-get update -qq && apt-get install -y -qq patroni etcd-server haproxy >/dev/null; }
	cd soak && go test -tags soak -count=1 -timeout 40m -v ./...
	go test -pgo=off -count=1 -timeout 20m -tags soak -run '^($(soak-tests))$$' ./cmd/catalogue ./db ./graph/plan ./server ./server/graphqlhttp

format:
	@unformatted=$$(gofmt -l .) && test -z "$$unformatted" || { echo "Run gofmt -w on: $$unformatted"; exit 1; }

# .golangci.yml lists the linters, .ci/tools/go.mod the versions. actionlint has its own version of a YAML
# module, so it is not in there.
lint:
	lint=$$(go -C .ci/tools tool -n golangci-lint) && for module in . $(modules); do (cd $$module && "$$lint" run) || exit; done
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes=

## make vulncheck      known vulnerabilities of the modules in use; needs the network
vulncheck:
	"$$(go -C .ci/tools tool -n govulncheck)" ./...

# Compares contents and not git status, because the tree may have uncommitted work.
generated = find graph resolvers -name '*.go' -exec cksum {} + | LC_ALL=C sort
fresh:
	@set -e; before=$$($(generated)); echo 'go generate ./...'; go generate ./...; \
	test "$$before" = "$$($(generated))" || { echo 'The generated code was out of date. It is regenerated: review and commit it.'; exit 1; }

tidy:
	for module in . $(modules) .ci/tools; do go mod tidy -C $$module -diff || exit; done

## make postgres       install PostgreSQL and pgbouncer for the tests if they are missing, as root on Debian
postgres:
	@.ci/postgres

# A run that fails at its time limit without an input has found nothing (golang.org/issue/75804). Making the inputs of new
# coverage shorter would take most of the time.
fuzzing = go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(or $(TIME),10s) -fuzzminimizetime 100x "$$second" >"$$log"
outOfTime = grep -q '^    context deadline exceeded$$' "$$log" && ! grep -q 'Failing input written' "$$log"

## make fuzz           each fuzz target for TIME=10s
.PHONY: fuzz
fuzz:
	@set -e; log=$$(mktemp); trap 'rm -f "$$log"' EXIT; go test -list '^Fuzz' ./... | while read -r first second third; do case "$$first" in \
	Fuzz*) targets="$$targets $$first";; \
	ok) for target in $$targets; do echo "$$target"; $(fuzzing) || $(outOfTime) || { cat "$$log"; exit 1; }; cat "$$log"; done; targets=;; \
	esac; done

## make conformance    API, schema and examples/ with the tools that clients use; installs bibutils, YAZ, MARC::Lint and Chromium if they are missing, as root on Debian; needs Node, npm, Python and Perl
tools := npm --prefix .ci/conformance ci --no-audit --no-fund --loglevel=error
chromium = { command -v chromium || command -v google-chrome; }
conformance: build
	$(tools)
	for folder in examples examples/react; do npm --prefix $$folder ci --no-audit --no-fund --loglevel=error || exit; done
	@command -v bib2xml >/dev/null || { echo 'Installing bibutils, which reads citations in a test.'; apt-get update -qq && apt-get install -y -qq bibutils >/dev/null; }
	@{ command -v yaz-marcdump && perl -MMARC::Lint -e 1 2>/dev/null; } >/dev/null || { echo 'Installing YAZ and MARC::Lint, which check MARC records.'; apt-get update -qq && apt-get install -y -qq yaz libmarc-lint-perl >/dev/null; }
	@$(chromium) >/dev/null || { echo 'Installing Chromium for examples/react.'; apt-get update -qq && apt-get install -y -qq chromium >/dev/null; }
	CHROMIUM=$$($(chromium)) npm --prefix .ci/conformance test

## make e2e            the pages in Chromium; installs Chromium if it is missing, as root on Debian; needs Node and npm
.PHONY: e2e
# CATALOGUE includes GraphiQL. CATALOGUE_FRESH is built like a fresh clone, without it.
e2e: web build
	CGO_ENABLED=0 go build -trimpath $(vcs) -overlay web/e2e/fresh.json -o bin/catalogue-fresh ./cmd/catalogue
	@command -v chromium >/dev/null || { echo 'Installing Chromium for the browser tests.'; apt-get update -qq && apt-get install -y -qq chromium >/dev/null; }
	npm --prefix web/e2e ci --no-audit --no-fund --loglevel=error
	cd web/e2e && CATALOGUE=$(CURDIR)/bin/catalogue CATALOGUE_FRESH=$(CURDIR)/bin/catalogue-fresh go test -count=1 -timeout 15m ./...

## make web            GraphiQL's files, for the next build, and zxing's, which are committed; compares hashes; needs Node and npm
.PHONY: web
web:
	for folder in graphiql zxing; do \
		npm --prefix web/$$folder ci --no-audit --no-fund --loglevel=error && npm --prefix web/$$folder run --silent build || exit; done

## make schema         promise today's schema to clients; ARGS=--break allows breaking changes
schema: build
	$(tools)
	node .ci/conformance/promise.mjs $(ARGS)

## make build          bin/catalogue, a static binary
build:
	CGO_ENABLED=0 go build -trimpath $(vcs) -o bin/catalogue ./cmd/catalogue

## make release        dist/: archives, deb and rpm packages, bills of materials, checksums; needs Node and npm
.PHONY: release packages packages-test
release: web packages

# GoReleaser demands a tag. Other commits get the version 0.0.0.
snapshot = $(shell git describe --tags --exact-match >/dev/null 2>&1 || echo --snapshot)
packages:
	go run github.com/goreleaser/goreleaser/v2@v2.15.0 release --clean $(snapshot) $(ARGS)

## make packages-test  install the deb of dist/ in a clean Debian, and test docs/deploy; as root on Debian
packages-test:
	.ci/packages

## make run            build and serve, with ARGS='…' as further arguments
run: build
	bin/catalogue serve $(ARGS)

## make generate       graph/*.generated.go from graph/*.graphqls
generate:
	go generate ./...

## make bench          processor time per request, compared with the commit OLD=HEAD; ARGS are flags of bench
.PHONY: bench
OLD ?= HEAD
bench: bench-build := CGO_ENABLED=0 go build -pgo=off -trimpath -buildvcs=false -o $(CURDIR)/bin
bench:
	@set -e; source=$$(mktemp -d); trap 'rm -rf "$$source"' EXIT; git archive $(OLD) | tar -x -C "$$source"; \
	cd "$$source"; $(bench-build)/bench-old ./cmd/catalogue
	$(bench-build)/bench-new ./cmd/catalogue
	cd bench && go run . $(ARGS) ../bin/bench-old ../bin/bench-new

## make bench-live     1,000 open lists that stay current: processor time and delay; ARGS are flags of bench live
.PHONY: bench-live
bench-live: build
	cd bench && go run . live $(ARGS) ../bin/catalogue

## make growth         catalogues of several sizes: processor time, wait, memory and disk; ARGS are flags of bench growth
.PHONY: growth
growth: build
	cd bench && go run . growth $(ARGS) ../bin/catalogue

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
