# sandbash - the front door.  meson and ninja do the work; this names the ways in.
#
#     make            build build/sandbash
#     make tests      the same, and the tests' own programs: tests/run.py builds nothing
#     make run        a sandboxed shell in an example project (a tour without a terminal)
#     make quick      a part of each suite, in under a minute
#     make test       everything that can be tested here; the last line counts
#     make test-machines   a short suite on other kernels (qemu) and in containers (runc)
#     make test-agents     claude, codex, gemini, opencode and qwen themselves, from npm, with a stand-in model
#     make test-programs   suites of real programs, natively and inside (docs/fidelity.md)
#     make test-network-programs   programs that use the network, natively and inside (docs/network.md)
#     make test-preview    2,000 random shell commands and all scripts here against --preview
#     make bench      speed against native and bubblewrap, and of the server for agents
#     make lint       formatting, rooms, limits, shell, clang's warnings; with TIDY=--tidy static analysis
#     make fuzz       60 s of libFuzzer per target (FUZZ_SECONDS=N)
#     make cross      compile for the other architecture and for Windows, as a check
#     make install    to $(DESTDIR)$(PREFIX)
#     make deb        a Debian package in $(BUILD)/deb, looked over by lintian, installed and removed
#
# Each installs the Debian packages it lacks (scripts/need), with sudo when not root.

BUILD ?= build
PREFIX ?= /usr/local
STATIC ?= true
FUZZ_SECONDS ?= 60
# on a terminal it shows how far it is
NINJA = ninja $$([ -t 1 ] || echo --quiet)

.PHONY: all build tests run quick test test-machines test-agents test-programs test-network-programs test-preview bench lint fuzz cross install deb clean

all: build

build:
	@scripts/need build
	@scripts/configure $(BUILD) --prefix=$(PREFIX) -Dstatic=$(STATIC) default:-Dtests=false
	@$(NINJA) -C $(BUILD)

tests:
	@scripts/need build test
	@scripts/configure $(BUILD) --prefix=$(PREFIX) -Dstatic=$(STATIC) -Dtests=true
	@$(NINJA) -C $(BUILD)

run: build
	@scripts/need run
	@scripts/demo $(BUILD)/sandbash

# The sanitizer tree is linked dynamically: ASan cannot be in a static program.  It is compiled with less effort, in half
# the time, only what is run, and says nothing: what there is to warn about, the other tree and clang have said.
.PHONY: test-build
test-build: tests
	@scripts/configure $(BUILD)-asan -Dstatic=false -Dtests=true -Db_sanitize=address,undefined -Doptimization=1 -Dwerror=false '-Dc_args=-g1 -w'
	@$(NINJA) -C $(BUILD)-asan sanitized
	@scripts/npm $(BUILD)

test: test-build
	@tests/run.py --build $(BUILD) $(TESTFLAGS)

quick: tests
	@scripts/npm $(BUILD)
	@tests/run.py --build $(BUILD) --quick $(TESTFLAGS)

# MACHINES="6.1 container" chooses; scripts/test-machines says which there are.
test-machines: test-build
	@scripts/need machines
	@scripts/test-machines --build $(BUILD) $(MACHINES)

# AGENTS="codex" chooses the tests whose names hold such a word.
test-agents: build
	@scripts/need agents
	@scripts/test-agents $(BUILD) $(AGENTS)

# PROGRAMS="redis postgres" chooses; scripts/test-programs --list says which there are.
test-programs: test-build
	@scripts/need programs
	@scripts/test-programs --build $(BUILD) $(PROGRAMS)

# NETWORK_PROGRAMS="git ssh" chooses; "--internet" runs npm and apt-get on the real network.
test-network-programs: build
	@scripts/need network-programs
	@scripts/test-network-programs --build $(BUILD) $(NETWORK_PROGRAMS)

test-preview: test-build
	@SANDBASH_TEST_COMMANDS=1000 SANDBASH_TEST_SCRIPTS=1000000 SANDBASH_TEST_TIMEOUT=3600 \
		tests/run.py --build $(BUILD) --suite cli --only preview

bench: build
	@scripts/need bench
	@$(NINJA) -C $(BUILD) bench-decide bench-files bench-guard bench-preview bench-search
	@bench/run --supervised
	@bench/run
	@bench/network --sandbash $(BUILD)/sandbash
	@bench/files --program $(BUILD)/bench-files
	@bench/search --program $(BUILD)/bench-search
	@$(BUILD)/bench-preview
	@scripts/npm $(BUILD)
	@bench/mcp --sandbash $(BUILD)/sandbash

# TIDY=--tidy: static analysis of all files as well; TIDY="--tidy src/guard/judge.c" of one.
lint:
	@scripts/need build lint
	@scripts/configure $(BUILD) --prefix=$(PREFIX) -Dstatic=$(STATIC) -Dtests=true
	@scripts/lint $(BUILD) $(TIDY)

fuzz: test-build
	@scripts/need fuzz
	@scripts/fuzz $(BUILD) $(FUZZ_SECONDS)

cross: test-build
	@scripts/cross $(BUILD)
	@scripts/windows $(BUILD)

install: build
	@DESTDIR="$(DESTDIR)" meson install -C $(BUILD) --no-rebuild --quiet
	@case "$(DESTDIR)::$$PATH:" in \
	:*":$(PREFIX)/bin:"*) echo "installed; now: cd ~/project && sandbash claude" ;; \
	:*) echo "installed; now: cd ~/project && $(PREFIX)/bin/sandbash claude" ;; \
	esac

deb:
	@scripts/need build deb
	@scripts/deb $(BUILD)/deb

clean:
	rm -rf $(BUILD) $(BUILD)-*
