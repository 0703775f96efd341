# Works in a fresh clone, with Go alone; `make test` installs PostgreSQL where it
# finds none (.ci/postgres).
.DEFAULT_GOAL := test
.PHONY: check test soak format vet lint fresh tidy postgres conformance schema build run generate help
# Generating rewrites what the other checks read.
.NOTPARALLEL:

# Go refuses to build where git cannot tell it the commit.
vcs := $(shell git rev-parse --verify HEAD >/dev/null 2>&1 || echo -buildvcs=false)

# Modules of their own. -short leaves the drill out.
modules := bench soak
test-modules = for module in $(modules); do go test -C $$module -short ./... || exit; done

## make check     before a commit: every check of the code, and the tests on SQLite alone
check: format vet lint fresh tidy
	go test -pgo=off -short ./...
	$(test-modules)

## make test      every check, and every test on SQLite and PostgreSQL (what plain make does)
# -count=1: Go's test cache knows nothing of the database server.
test: format vet lint fresh tidy postgres
	go test -pgo=off -count=1 -timeout 15m ./...
	$(test-modules)

## make race      packages with concurrency, under the race detector; needs a C compiler
# Above db concurrency is the same on both engines, so it runs on SQLite alone. SQLite itself,
# which is C turned into Go, is left out: it would take four times as long. Its driver is not:
# code that it shares with others, as sync.Map's, would be linked without the detector.
.PHONY: race
race := go test -pgo=off -count=1 -timeout 15m -race -gcflags=modernc.org/sqlite/lib=-race=false
race: postgres
	$(race) ./db ./db/batch
	$(race) -short ./cmd/catalogue/serve ./db/archive ./graph/... ./importer/... ./resolvers/... ./rest/... ./server/... ./web

## make soak      random runs ten times as long, and the drill: honest clients under attack
# The drill prints times, so it has the machine to itself. CATALOGUE_DRILL_PROGRAMS=old:new
# measures two programs in turn.
soak: postgres
	cd soak && go test -count=1 -timeout 10m -v ./...
	go test -pgo=off -count=1 -timeout 20m -tags soak ./...

format:
	@unformatted=$$(gofmt -l .) && test -z "$$unformatted" || { echo "gofmt -w has work to do: $$unformatted"; exit 1; }

vet:
	go vet ./...
	for module in $(modules); do go vet -C $$module ./... || exit; done

# Their versions are in go.mod's tool block.
lint:
	go tool staticcheck ./...
	go tool go-errorlint ./...
	lint=$$(go tool -n staticcheck); for module in $(modules); do (cd $$module && "$$lint" ./...) || exit; done

# Compared by content, not by git status: the tree may hold other work.
generated = find graph resolvers -name '*.go' -exec cksum {} + | LC_ALL=C sort
fresh:
	@set -e; before=$$($(generated)); echo 'go generate ./...'; go generate ./...; \
	test "$$before" = "$$($(generated))" || { echo 'The generated code was out of date. It is fresh now: look at it and commit it.'; exit 1; }

tidy:
	for module in . $(modules); do go mod tidy -C $$module -diff || exit; done

## make postgres  installs PostgreSQL for the tests, as root on Debian, where there is none
postgres:
	@.ci/postgres

# A run of Go's fuzzing can fail because its time is over, and name no input
# (golang.org/issue/75804). It is made once more.
fuzzing = { go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(or $(TIME),10s) "$$second" >"$$log" && cat "$$log" || { cat "$$log"; false; }; }
outOfTime = grep -q '^    context deadline exceeded$$' "$$log" && ! grep -q 'Failing input written' "$$log"

## make fuzz      each fuzz target for a while, TIME=10s if nothing is said
.PHONY: fuzz
fuzz:
	@set -e; log=$$(mktemp); trap 'rm -f "$$log"' EXIT; go test -list '^Fuzz' ./... | while read -r first second third; do case "$$first" in \
	Fuzz*) targets="$$targets $$first";; \
	ok) for target in $$targets; do echo "$$target"; $(fuzzing) || { $(outOfTime) && $(fuzzing); } || exit; done; targets=;; \
	esac; done

## make conformance  the service and its schema beside the tools that clients use, and examples/; needs Node, npm and Python
tools := npm --prefix .ci/conformance ci --no-audit --no-fund --loglevel=error
conformance: build
	$(tools)
	npm --prefix examples ci --no-audit --no-fund --loglevel=error
	npm --prefix .ci/conformance test

## make e2e        the pages in Chromium against the binary; installs Chromium, as root on Debian, where there is none
.PHONY: e2e
# CATALOGUE has GraphiQL, and CATALOGUE_FRESH is as built from a fresh clone.
e2e: web build
	CGO_ENABLED=0 go build -trimpath $(vcs) -overlay web/e2e/fresh.json -o bin/catalogue-fresh ./cmd/catalogue
	@command -v chromium >/dev/null || { echo 'Installing Chromium for the browser tests.'; apt-get update -qq && apt-get install -y -qq chromium >/dev/null; }
	npm --prefix web/e2e ci --no-audit --no-fund --loglevel=error
	cd web/e2e && CATALOGUE=$(CURDIR)/bin/catalogue CATALOGUE_FRESH=$(CURDIR)/bin/catalogue-fresh go test -count=1 ./...

## make web        GraphiQL for /playground, which the next build takes along; needs Node and npm
.PHONY: web
web:
	npm --prefix web/graphiql ci --no-audit --no-fund --loglevel=error
	npm --prefix web/graphiql run --silent build

## make schema    promises clients the schema of today; ARGS=--break where they are to break
schema: build
	$(tools)
	node .ci/conformance/promise.mjs $(ARGS)

## make build     bin/catalogue, static: it needs nothing from the machine it runs on
build:
	CGO_ENABLED=0 go build -trimpath $(vcs) -o bin/catalogue ./cmd/catalogue

## make release   dist/: archives, deb and rpm packages, bills of materials, checksums; needs Node and npm
.PHONY: release packages packages-test
release: web packages

packages:
	go run ./cmd/release $(ARGS)

## make packages-test  installs dist's deb in a clean Debian, and looks at what is in docs/deploy; as root on Debian
packages-test:
	.ci/packages

## make run       builds and serves, with ARGS='…' as further arguments
run: build
	bin/catalogue serve $(ARGS)

## make generate  graph/*.generated.go from graph/*.graphqls
generate:
	go generate ./...

## make bench     processor time for a request, of this code and of the commit OLD (HEAD if nothing is said), by bench's ARGS
.PHONY: bench
OLD ?= HEAD
bench: bench-build := CGO_ENABLED=0 go build -pgo=off -trimpath -buildvcs=false -o $(CURDIR)/bin
bench:
	@set -e; source=$$(mktemp -d); trap 'rm -rf "$$source"' EXIT; git archive $(OLD) | tar -x -C "$$source"; \
	cd "$$source"; $(bench-build)/bench-old ./cmd/catalogue
	$(bench-build)/bench-new ./cmd/catalogue
	cd bench && go run . $(ARGS) ../bin/bench-old ../bin/bench-new

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)
