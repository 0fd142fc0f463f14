# machsym: the tool, the libraries, the tests. Needs a C compiler and GNU make; every other target says what it needs.
#   make              build/machsym
#   make demo         the stack of a crash of a shipped program, as it came and as it is answered
#   make test         all tests; the last line is "N passed, N failed, N skipped"
#   make lib          build/libmachsym.a and .so (.dylib, .dll)
#   make install      PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=; make uninstall takes it away
#   make dist         all of a release: source, static programs for Linux, one for Windows, packages, checksums
#   make help         all targets
# V=1 shows the commands. FAST=1 builds without optimising, in build/fast: what it takes a third of the time for.
# HARDEN= leaves out the stack protector, FORTIFY, RELRO and PIE.

ifeq ($(origin CC),default)
CC := $(or $(shell command -v cc),$(shell command -v gcc),$(shell command -v clang))
endif
MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:

VERSION := $(shell sed -n 's/^\#define MACHSYM_VERSION  *"\(.*\)"/\1/p' machsym.h)
# What the shared library is called by those who use it: its structs keep their sizes within a minor version only.
SERIES  := $(subst $() ,.,$(wordlist 1,2,$(subst ., ,$(VERSION))))

# B: where this build lies; RUN: what runs its programs (an emulator); both let one Makefile build for many hosts.
ifneq ($(FAST),)
B           ?= build/fast
CFLAGS      ?= -O0
endif
B           ?= build
RUN         ?=
CFLAGS      ?= -O2
TEST_CFLAGS ?= -O0
STD         ?= -std=c11
# of 32-bit systems: file systems may number files, and places in folders, past 32 bits
SYSTEM      := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
PREFIX      ?= /usr/local
LIBDIR      ?= $(PREFIX)/lib
DESTDIR     ?=
STRIP       ?= strip
TIME        ?= 15
SEED        ?= 1

# What is built reads files of strangers. So stacks have canaries; copies whose room the compiler knows are checked where code
# is optimised and the C library has the functions; relocations are read-only before main; programs lie at a random address.
# CFLAGS and LDFLAGS come later, so they win. Sanitizers bring checks of their own. Without -static, canaries would make a
# program for Windows need libssp-0.dll.
HARDEN    ?= yes
HOST      := $(shell $(CC) -dumpmachine 2>/dev/null)
OPTIMISED := $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
UNFIT     := $(findstring -fsanitize,$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS))
ifneq ($(findstring mingw,$(HOST)),)
UNFIT     += $(if $(findstring -static,$(LDFLAGS)),,shared)
endif
PROTECT         :=
PROTECT_LINK    :=
PROTECT_PROGRAM :=
ifeq ($(if $(HARDEN),$(strip $(UNFIT)),none),)
PROTECT := -fstack-protector-strong
ifeq ($(if $(OPTIMISED),$(findstring _FORTIFY_SOURCE,$(CC) $(CPPFLAGS) $(CFLAGS)),none),)
PROTECT += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(shell $(CC) -O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 \
    -include stdio.h -fsyntax-only -x c /dev/null >/dev/null 2>&1 && echo 3 || echo 2)
endif
ifneq ($(findstring mingw,$(HOST)),)
PROTECT_LINK    := -fstack-protector-strong
else ifeq ($(findstring apple,$(HOST)),)
PROTECT         += -fPIE
PROTECT_LINK    := -Wl,-z,relro,-z,now
PROTECT_PROGRAM := $(if $(findstring -static,$(LDFLAGS)),,-pie)
endif
endif

WARN := -Wall -Wextra -pedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Wcast-align -Wvla \
        -Wstrict-prototypes -Wmissing-prototypes -Wformat-security
TEST_WARN := -Wall -Wextra -Wundef -Wvla -Wstrict-prototypes

# Fuzz targets that use public functions only; those that use the tool's modules too, mapcmd its commands as well.
PUBLIC_FUZZ := macho cache lookup agree abbrev units functions lines symbols loaded debugmap map
REPORT_FUZZ := report_api report_json report_text report_write report_image report_plcrash mapcmd packed plist zstd
FUZZ_C  := $(wildcard fuzz/fuzz_*.c)
REPLAYS := $(FUZZ_C:fuzz/fuzz_%.c=$(B)/replay/%)

# ONLY, ONLY_FUZZ, ONLY_SH: names of test programs, of fuzz targets to replay and of scripts, in place of all tests.
ONLY      ?=
ONLY_FUZZ ?=
ONLY_SH   ?=
TEST_C  := $(wildcard tests/test_*.c) tests/corrupt.c tests/damage.c tests/flips.c tests/oom.c
TESTS   := $(TEST_C:tests/%.c=$(B)/tests/%)
TEST_SH := $(wildcard tests/*.sh)
ifneq ($(ONLY),)
TESTS   := $(ONLY:%=$(B)/tests/%)
REPLAYS := $(ONLY_FUZZ:%=$(B)/replay/%)
TEST_SH := $(ONLY_SH:%=tests/%.sh) $(if $(ONLY_FUZZ),tests/replay.sh)
endif

ROOMS   := $(wildcard src/*.h src/*/*.h)
REPORT_C := $(filter-out report/api.c,$(sort $(wildcard report/*.c report/*/*.c))) # api.c is for machsym_report.h
TOOL_C  := $(REPORT_C) $(sort $(wildcard tool/*.c tool/*/*.c tool/*/*/*.c))
TOOL_O  := $(TOOL_C:%.c=$(B)/%.o)
FUZZERS := $(FUZZ_C:fuzz/fuzz_%.c=build/fuzz/%)

# For scripts; the checkout's path may have blanks, which functions of make take for ends.
TOOL = $(if $(filter /%,$(B)),,$$PWD/)$(B)/machsym

.PHONY: all
all: $(B)/machsym

# ---- The header ----

# What is compiled lists what it includes in a .d file beside its object (-MMD), and is compiled again when one of these
# changes. All but machsym.c and its like include the declarations of machsym.h alone (-I$(B)/include), so that a changed room
# compiles one object.
DEPENDS     := -MMD -MP
DEPENDS_ALL  = -MD -MP -MF $@.d -MT $@# of what is compiled and linked at once, whose rooms count as headers of the system
API_ONLY = -I$(B)/include
-include $(wildcard $(TOOL_O:.o=.d) $(TOOL_C:%.c=$(B)/counted/%.d) $(TOOL_C:%.c=build/fuzzed/%.d) build/fuzzed/*.d \
    $(foreach at,tests rooms replay,$(B)/$(at)/*.d))

# machsym.h is joined from the rooms of src/, machsym_report.h from those of report/. make joins them before it does anything
# else, since it reads joined.mk, and begins again if that was older than a room. A header's time changes only when its bytes do.
NO_JOIN := help clean join-check rooms format format-check
ifneq ($(filter-out $(NO_JOIN),$(or $(MAKECMDGOALS),all)),)
-include $(B)/joined.mk
endif
$(B)/joined.mk: $(ROOMS) $(wildcard src/join docs/symmap.md examples/minimal.c report/join report/*.[ch] report/*/*.[ch])
	@[ -e $@ ] || rm -f $(wildcard $(B)/tool/*.o $(B)/tool/*/*.o $(B)/counted/*.o) # without .d files: of a Makefile before
	@rm -f $(@D)/include/machsym_report.h # of a Makefile before; the one at the top counts
	@mkdir -p $(@D)/include && src/join && src/join --api $(@D)/include/machsym.h && report/join machsym_report.h && : >$@

# A line for each file that is compiled or linked; V=1: the command itself.
Q      := $(if $(V),,@)
SILENT := $(findstring s,$(firstword -$(MAKEFLAGS)))
SAYS    = $(if $(V)$(SILENT),,@printf '  %-4s %s\n' $(1) '$(2)')

.PHONY: join-check rooms
join-check:
	@sh tests/one "machsym.h is what src/join writes" awk src/join --check
	@sh tests/one "machsym_report.h is what report/join writes" awk report/join --check machsym_report.h
rooms:
	@B="$(B)" sh tests/rooms

# ---- The tool ----

# EXE=FILE: a tool that is built already, as by make dist, for the tests.
ifeq ($(and $(filter command,$(origin EXE)),$(EXE)),)
$(B)/machsym: $(TOOL_O)
	$(call SAYS,LINK,$@)
	$(Q)$(CC) $(PROTECT_LINK) $(PROTECT_PROGRAM) $(CFLAGS) $(LDFLAGS) -o $@ $(TOOL_O) -pthread $(LDLIBS)
else
$(B)/machsym: $(EXE)
	@mkdir -p $(@D)
	cp $< $@
endif

# The header's object is that of the libraries, too: it takes as long to compile as half of the tool.
$(B)/tool/machsym.o: FOR_LIBRARY = -fPIC -fvisibility=hidden '-DMACHSYM_API=$(API)'
$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call SAYS,CC,$<)
	$(Q)$(CC) $(STD) $(SYSTEM) $(API_ONLY) $(DEPENDS) $(WARN) $(PROTECT) $(CPPFLAGS) $(CFLAGS) $(FOR_LIBRARY) -pthread -c -o $@ $<

# A crash of a shipped program, before and after. What is built for it is one line, unless a compiler has something to say.
.PHONY: demo
demo:
	@[ -x $(B)/machsym ] || echo "Building $(B)/machsym: half a minute of one core ..."
	@$(MAKE) -s $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)) all
	@MACHSYM="$(RUN) $(B)/machsym" sh examples/demo.sh

# ---- Libraries and packaging ----

# The shared library of the host that CC compiles for: the file, the links to it, how it is linked. Elsewhere than on a Mac
# the loader finds it by its name; on a Mac by the path that its users were linked with, so that goes by LIBDIR.
API := extern __attribute__((visibility("default")))
ifneq ($(findstring apple,$(HOST)),)
SHARED       := libmachsym.$(VERSION).dylib libmachsym.$(SERIES).dylib libmachsym.dylib
SHARED_FLAGS  = -dynamiclib -install_name "$$LIBDIR/$(word 2,$(SHARED))" -current_version $(VERSION) \
                -compatibility_version $(SERIES)
else ifneq ($(findstring mingw,$(HOST)),)
API          := extern __declspec(dllexport)
SHARED       := libmachsym-$(SERIES).dll
SHARED_FLAGS  = -shared -Wl,--out-implib,$(B)/libmachsym.dll.a
else
SHARED       := libmachsym.so.$(VERSION) libmachsym.so.$(SERIES) libmachsym.so
SHARED_FLAGS  = -shared -Wl,-soname,$(word 2,$(SHARED))
endif

.PHONY: lib
lib: $(B)/libmachsym.a $(SHARED:%=$(B)/%)

# Whole reports, of machsym_report.h; LIB_REPORT= leaves them out. The tool has the rooms themselves, which are compiled one by one
# with all of WARN. As one unit a parameter may have the name of a type.
LIB_REPORT ?= $(B)/lib/report.o
$(B)/lib/report.o: machsym_report.h machsym.h
	@mkdir -p $(@D)
	$(call SAYS,CC,$<)
	$(Q)$(CC) $(STD) $(SYSTEM) -Wall -Wextra -pedantic $(PROTECT) $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden '-DMACHSYM_API=$(API)' \
	    -DMACHSYM_REPORT_IMPLEMENTATION -c -o $@ -x c $<

$(B)/libmachsym.a: $(B)/tool/machsym.o $(LIB_REPORT)
	$(call SAYS,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# The name in it changes with LIBDIR on a Mac, where it is linked each time.
$(B)/$(firstword $(SHARED)): export LIBDIR := $(LIBDIR)
$(B)/$(firstword $(SHARED)): $(B)/tool/machsym.o $(LIB_REPORT) $(if $(findstring dylib,$(SHARED)),relink)
	$(call SAYS,LINK,$@)
	$(Q)$(CC) $(PROTECT_LINK) $(CFLAGS) $(LDFLAGS) $(SHARED_FLAGS) -o $@ $(filter %.o,$^)
.PHONY: relink
relink:

$(patsubst %,$(B)/%,$(wordlist 2,9,$(SHARED))): $(B)/$(firstword $(SHARED))
	ln -sf $(<F) $@

# Paths may hold blanks, so they go by the environment. STRIP=: keeps the debug info.
.PHONY: install uninstall
install uninstall: export DESTDIR := $(DESTDIR)
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export LIBDIR := $(LIBDIR)
install: all lib
	@B="$(B)" VERSION="$(VERSION)" STRIP="$(STRIP)" SHARED="$(SHARED)" sh packaging/install install
uninstall:
	@B="$(B)" VERSION="$(VERSION)" STRIP="$(STRIP)" SHARED="$(SHARED)" sh packaging/install uninstall

# The Go module can be fetched and vendored because all that it is compiled from lies in it, by copy.
COPIES := machsym.h machsym_report.h bindings/flat.c bindings/flat.h LICENSE
.PHONY: bindings bindings-check
bindings:
	cp $(COPIES) bindings/go
bindings-check:
	@sh tests/one "the copies in bindings/go; make bindings renews them" cmp sh -c \
	    'for file in $(COPIES); do cmp "$$file" "bindings/go/$${file##*/}" || exit 1; done'

# The server, by Debian's Go and its golang packages, without modules: docs/server.md.
.PHONY: server
server: all $(B)/machsym-server
$(B)/machsym-server: $(wildcard server/*.go server/*.html server/*.json server/*.txt)
	$(call SAYS,GO,$@)
	$(Q)cd server && GO111MODULE=off GOPATH="$${GOPATH:-/usr/share/gocode}" GOFLAGS= CGO_ENABLED=1 \
	    go build -trimpath -tags libsqlite3 -o "$(abspath $@)" .

# Faults with 20,000 reports of real size, each sent three times, and memory over 100,000: fifteen minutes on two cores.
# docs/server.md has the table. DATABASE=postgres: faults of a PostgreSQL for two servers instead; it needs root, for its network.
REPORTS ?= 20000
.PHONY: soak-server
soak-server: server
	$(Q)work=$$(mktemp -d) && PYTHONDONTWRITEBYTECODE=1 python3 tests/server_$(if $(filter postgres,$(DATABASE)),faults,soak).py $(B)/machsym-server $(B)/machsym \
	    "$$work" $(REPORTS); status=$$?; rm -rf "$$work"; exit $$status

# Its rates, CPU, memory and disk over 100,000 reports, with goals: two minutes on two idle cores, four on busy ones. DATABASE=postgres: with a
# PostgreSQL beside it, whose CPU is told apart.
.PHONY: bench-server
bench-server: server
	$(Q)DATABASE=$(DATABASE) PYTHONDONTWRITEBYTECODE=1 python3 bench/server.py $(COUNT) $(B)/machsym-server $(B)/machsym
bench-server: COUNT ?= 100000

# The man page says of each command what its help says.
.PHONY: man
man: all
	@sh packaging/man $(B)/machsym >$(B)/machsym.1 && cp $(B)/machsym.1 machsym.1

# packaging/project says who makes it and where it is; what states that as plain text is written anew.
.PHONY: describe
describe:
	@sh packaging/describe

# All of a release, in build/dist.
.PHONY: dist
dist:
	@VERSION="$(VERSION)" sh packaging/dist

# ---- Tests ----

$(B)/tests/%: tests/%.c $(B)/rooms/rooms.o
	@mkdir -p $(@D)
	$(call SAYS,TEST,$<)
	$(Q)$(CC) $(STD) $(SYSTEM) $(API_ONLY) -I. -isystem $(B) $(DEPENDS_ALL) $(TEST_WARN) $(CPPFLAGS) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) \
	    -pthread $(LDLIBS)

# Private functions of the rooms are compiled once for all test programs (tests/open_rooms, tests/room.h). For a test
# program they are headers of the system, which are read without warnings: rooms.o has those.
$(B)/rooms/rooms.c: tests/open_rooms $(ROOMS)
	@mkdir -p $(@D)
	@sh tests/open_rooms $(@D) && touch $@
$(B)/rooms/rooms.o: $(B)/rooms/rooms.c
	$(call SAYS,CC,$<)
	$(Q)$(CC) $(STD) $(SYSTEM) $(TEST_WARN) $(CPPFLAGS) $(TEST_CFLAGS) -c -o $@ $<

# Test programs are linked with a build of the header, too: that of the tool, or one that counts what is done. The last two
# count commands, too.
MODULES := $(filter-out tool/cmd/%,$(TOOL_C:%.c=%))
ATOS    := $(filter tool/cmd/atos/%,$(TOOL_C:%.c=%))
MAPS    := $(filter tool/cmd/map/%,$(TOOL_C:%.c=%))
COUNTED := test_bounds test_shared test_alloc oom test_folded test_stack test_report_limits test_report_bounds test_map_bounds test_read_map
$(filter-out $(COUNTED:%=$(B)/tests/%),$(TEST_C:tests/%.c=$(B)/tests/%) $(B)/tests/torture): $(B)/tool/machsym.o
$(COUNTED:%=$(B)/tests/%): $(B)/counted/tool/machsym.o
$(B)/tests/test_crash $(B)/tests/test_esr $(B)/tests/test_minidump $(B)/tests/test_errors $(B)/tests/test_tool_room $(B)/tests/test_zstd $(B)/tests/test_archive $(B)/tests/test_progress $(B)/tests/test_tool_threads $(B)/tests/test_ahead $(B)/tests/test_images $(B)/tests/test_calls: $(MODULES:%=$(B)/%.o)
$(B)/tests/test_report_limits: $(MODULES:%=$(B)/counted/%.o)
$(B)/tests/test_report_bounds: $(patsubst %,$(B)/counted/%.o,$(MODULES) $(ATOS))
$(B)/tests/test_map_bounds: $(patsubst %,$(B)/counted/%.o,$(MODULES) $(ATOS) $(MAPS))

# Shared caches, which python3 builds for the tests; without it test_cache says what it leaves out.
$(B)/caches/made: $(wildcard tests/cache/*.py tests/fixtures/bin/cache/*)
	@mkdir -p $(@D)
	@! command -v python3 >/dev/null || { python3 tests/cache/build.py tests/fixtures/bin/cache $(@D) >/dev/null && touch $@; }
$(B)/tests/test_cache: | $(B)/caches/made

# These run for long enough to be worth optimising; debug information would take as long again.
LONG_CFLAGS ?= -O1 -g0
$(B)/counted/%.o: %.c
	@mkdir -p $(@D)
	$(call SAYS,CC,$<)
	$(Q)$(CC) $(STD) $(SYSTEM) $(API_ONLY) $(DEPENDS) -include tests/count_work.h $(CPPFLAGS) $(TEST_CFLAGS) $(LONG_CFLAGS) -c -o $@ $<

# What fuzz targets share: the header, and the tool without its commands.
$(REPLAYS): $(B)/tool/machsym.o
$(FUZZERS): build/fuzzed/tool/machsym.o
$(REPORT_FUZZ:%=$(B)/replay/%): $(MODULES:%=$(B)/%.o)
$(REPORT_FUZZ:%=build/fuzz/%): $(MODULES:%=build/fuzzed/%.o)
$(B)/replay/mapcmd: $(patsubst %,$(B)/%.o,$(ATOS) $(MAPS))
build/fuzz/mapcmd: $(patsubst %,build/fuzzed/%.o,$(ATOS) $(MAPS))

$(B)/replay/replay.o: fuzz/replay.c
	@mkdir -p $(@D)
	$(call SAYS,CC,$<)
	$(Q)$(CC) $(STD) $(SYSTEM) $(TEST_WARN) $(CPPFLAGS) $(TEST_CFLAGS) -c -o $@ $<

# <src/ROOM> is the room itself for a fuzzer, and for a replay the copy whose functions are linked.
$(B)/replay/%: fuzz/fuzz_%.c $(B)/replay/replay.o $(B)/rooms/rooms.o
	@mkdir -p $(@D)
	$(call SAYS,FUZZ,$<)
	$(Q)$(CC) $(STD) $(SYSTEM) $(API_ONLY) -isystem $(B)/rooms $(DEPENDS_ALL) $(TEST_WARN) $(CPPFLAGS) $(TEST_CFLAGS) $(LDFLAGS) -o $@ \
	    $< $(filter %.o,$^) $(LDLIBS)

.PHONY: build-tests
build-tests: $(if $(ONLY),$(if $(ONLY_SH),all),all) $(TESTS) $(REPLAYS)

# A program that does not build is a failure, and the others run. SAMPLE: one of how many is tried of what there are ten
# thousands of; `make soak-test` tries all. TIMES=1 prints the seconds of CPU that each test took: none may take 20, all together with
# what they build 180 (with gcc, make and python3 alone).
.PHONY: test
test:
	@status=0; $(MAKE) -k build-tests || status=1; \
	[ -z "$$TIMES" ] || { echo "CPU of the build, user and system, below that of make:"; times; }; \
	B="$(B)" RUN="$(RUN)" CC="$(CC)" CFLAGS="$(TEST_CFLAGS)" LDFLAGS="$(LDFLAGS)" \
	    UNBUILT=$$status SAMPLE="$${SAMPLE:-7}" sh tests/run $(TESTS) $(TEST_SH)

.PHONY: test-gcc test-clang test-all soak-test
test-gcc test-clang:
	@$(MAKE) test B=build/$(@:test-%=%) CC=$(@:test-%=%) CFLAGS="-O2 -Werror" TEST_CFLAGS=-O0
soak-test:
	@SAMPLE=1 $(MAKE) test-gcc
test-all:
	@sh tests/sum "$(MAKE) test-gcc" "$(MAKE) test-clang"

# Every system call and every call for memory of 50 commands fails in turn: three minutes of two processors. JOBS: runs at a
# time; FAULTS_ONLY="crash*": rows whose name fits.
.PHONY: soak-faults
soak-faults: all
	@MACHSYM="$(abspath $(B)/machsym)" CC="$(CC)" FAULTS_SAMPLE=1 FAULTS_TABLE=1 JOBS="$${JOBS:-$$(nproc)}" bash tests/faults.sh

# Unwinding against an emulator's call log at every instruction of 1,000 functions for each set of flags, 2,000 random CFA
# programs for each kind of table, and 1,000 stacks beside lldb: minutes. STEPS=3000: more functions; STACKS=5000: more stacks.
.PHONY: soak-unwind
soak-unwind: all
	@MACHSYM="$(abspath $(B)/machsym)" CC="$(CC)" CFLAGS="$(CFLAGS)" SAMPLE=1 STEPS="$${STEPS:-1000}" STACKS="$${STACKS:-1000}" \
	  TWINS="$${TWINS:-300}" sh tests/unwind.sh

# The damage matrix over all fixtures, and what each field cost; STRIDE=7 in the environment: every seventh field.
.PHONY: damage
damage: $(B)/tests/damage
	@$(B)/tests/damage --all --table

# Single flipped bits: how many of each region of sound files change answers, and how many of those are told. FLIPS: of
# each region of each file; SEED; FILES: in place of the fixtures and of the real files that lie beside the checkout.
FLIPS ?= 200
FILES ?= $(wildcard tests/fixtures/bin/*.dwarf tests/real/*.dwarf tests/real/*/*.dwarf) \
         $(shell find ../shared/corpus -type f -path '*.dSYM/Contents/Resources/DWARF/*' ! -path '* *' 2>/dev/null | sort)
.PHONY: soak-flips
soak-flips: $(B)/tests/flips
	@$(B)/tests/flips --flips $(FLIPS) $(if $(SEED),--seed $(SEED)) $(FILES)

# Test scripts as a stranger meets them: a Debian with gcc, make and libc6-dev only, as root and not, in folders that others
# may not enter. soak-stranger builds and runs all there. QUICK=1: without long scripts that need hardly a tool, as in .ci/run.
STRANGER_LONG := check_stack cut escape facts kinds_a kinds_b orders output redact report_header surroundings
.PHONY: test-stranger soak-stranger
test-stranger: all $(REPLAYS) $(B)/tests/test_reader
	@B="$(B)" LEAVE="$(if $(QUICK),$(STRANGER_LONG))" bash tests/stranger
soak-stranger:
	@bash tests/stranger --full

# The table of surroundings: every command on a full disk, killed at each step, beside traps and so on.
.PHONY: surroundings
surroundings: all
	@MACHSYM="$(TOOL)" CC="$(CC)" bash tests/surroundings.sh --table

# ---- Stricter checks ----

FORMATTED = $(wildcard src/*.h src/*/*.h examples/*.c report/*.[ch] report/*/*.[ch] tool/*.[ch] tool/*/*.[ch] tool/*/*/*.[ch] bindings/*.[ch] tests/*.[ch] fuzz/*.[ch] bench/*.c bench/*/*.c)
CLANG_FORMAT ?= clang-format-14
.PHONY: format format-check
format:
	$(CLANG_FORMAT) -i $(FORMATTED)
format-check:
	@sh tests/one "the format" $(CLANG_FORMAT) $(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)

.PHONY: compile-matrix
compile-matrix:
	@WARN="$(WARN)" sh tests/compile-matrix

.PHONY: fixtures-check differential bench
fixtures-check:
	@bash tests/fixtures/check.sh
differential: all
	@MACHSYM="$(TOOL)" sh tests/sum "bash tests/differential/run.sh" "sh tests/differential/names.sh" \
	    "bash tests/differential/selftest.sh" "python3 tests/differential/caches.py"
bench: all
	bench/run

# tsan and msan run the tests that they are for: threads that share, and all that reads what files say. They optimise
# nothing: that takes longer than it saves. MemorySanitizer of clang 14 does not know fstat64. asan runs all test programs, so
# it optimises what they link: a minute of the compiler saves ten. There each object of an arena is an allocation of its own,
# so that a byte past it is seen. Of the scripts it runs those of ASAN_SH. Processes look for leaks at their end in those of
# LEAKS only: that is half of what a process takes. What is tried by the ten thousand is thinned out: soak-test has it all,
# and make torture cuts and flips all files under AddressSanitizer. soak-asan runs all scripts but those about how the project
# is built and about readers of others.
comma := ,
SAN := -gline-tables-only -O0 -fno-omit-frame-pointer -fno-sanitize-recover=all
SAN_FLAGS = CC=clang CFLAGS="$(SAN) $(1)" TEST_CFLAGS="$(SAN) $(1)" LONG_CFLAGS=
ASAN := -fsanitize=address$(comma)undefined -DMACHSYM_ARENA_CHUNK=1
ASAN_SH := crash kinds_b reports incidents minidump redact only json missing keep map map_unwind demangle
LEAKS := reports
ASAN_ALL := $(filter-out replay package soname names_switches switches rooms formats running mutate bench symmap,$(patsubst tests/%.sh,%,$(wildcard tests/*.sh)))
.PHONY: asan soak-asan tsan msan torture
asan:
	@QUICK=1 STRIDE=$${STRIDE:-60} SAMPLE=7 LEAKS="$(LEAKS)" $(MAKE) test B=build/asan ONLY="$(notdir $(TEST_C:.c=))" ONLY_SH="$(ASAN_SH)" \
	    ONLY_FUZZ="$(FUZZ_C:fuzz/fuzz_%.c=%)" $(call SAN_FLAGS,$(ASAN)) CFLAGS="$(SAN:-O0=-O1) $(ASAN)" LONG_CFLAGS=-O1
soak-asan:
	@$(MAKE) asan ASAN_SH="$(ASAN_ALL)" LEAKS="$(ASAN_ALL)"
tsan:
	@$(MAKE) test B=build/tsan ONLY="test_ahead test_threads test_map_threads test_report_threads" ONLY_SH=threads $(call SAN_FLAGS,-fsanitize=thread)
msan:
	@STRIDE=60 $(MAKE) test B=build/msan \
	    ONLY="corrupt test_forms test_functions test_lines test_macho test_symbols test_units" \
	    ONLY_FUZZ="$(FUZZ_C:fuzz/fuzz_%.c=%)" $(call SAN_FLAGS,-fsanitize=memory -DMACHSYM_ARENA_CHUNK=1 -U_FILE_OFFSET_BITS)

# Malformed files through the library and every subcommand; TORTURE=full takes two hours: see tests/torture.sh. The objects
# are those of the fuzz targets.
TORTURE ?= short
torture:
	@$(MAKE) build-torture B=build/fuzzed CC="$(FUZZ_CC)" CFLAGS="$(FUZZ_FLAGS)" TEST_CFLAGS="$(FUZZ_FLAGS)" && \
	    B=build/fuzzed bash tests/torture.sh $(TORTURE)

.PHONY: build-torture
build-torture: $(B)/machsym $(B)/tests/torture $(B)/tests/torture_tool

$(B)/tool/tool_main.o: $(B)/tool/cmd/main.o
	@objcopy --redefine-sym main=tool_main $< $@

$(B)/tests/torture_tool: tests/torture_tool.c $(B)/tool/tool_main.o $(filter-out %/main.o,$(TOOL_O))
	@mkdir -p $(@D)
	$(call SAYS,TEST,$<)
	$(Q)$(CC) $(STD) $(SYSTEM) $(API_ONLY) -I. $(DEPENDS_ALL) $(TEST_WARN) $(CPPFLAGS) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) \
	    -pthread $(LDLIBS)

.PHONY: coverage coverage-tests coverage-report
# Without what only repeats others on more or larger input: that takes half of the time. Only lines of the header are
# counted, so that the tool's modules are built without --coverage.
COVERAGE := $(filter-out test_bounds test_map_bounds test_report_bounds test_report_limits corrupt,$(notdir $(TEST_C:.c=)))
# Scripts that hold rooms of the header against others' tools, by the tool.
COVERAGE_SH := folded atos people real calls debugmap
build/coverage/tool/machsym.o: CPPFLAGS += --coverage
coverage:
	@$(MAKE) coverage-tests && $(MAKE) coverage-report
coverage-tests:
	@find build/coverage -name '*.gcda' -delete 2>/dev/null || true
	@QUICK=1 SAMPLE=7 $(MAKE) test B=build/coverage CC=gcc ONLY="$(COVERAGE)" ONLY_SH="$(COVERAGE_SH)" CFLAGS="-O0 -g0" \
	    TEST_CFLAGS="-O0 -g0 --coverage" LDLIBS=--coverage LONG_CFLAGS=
coverage-report:
	@B=build/coverage sh tests/coverage

# Plants N small faults, one at a time, and counts which the tests find; IN="src/dwarf report": in files that begin so; SEED=: the
# same faults again, of the same sources. What executes which line is measured first, some minutes long; RENEW=1 measures it anew,
# AGAIN="atos.sh test_map" for these tests only. NEAREST=1: quick, by the tests of tests/mutate/nearest.tsv and those of
# ALSO="rows.sh". mutate-short is for CI: one fault that is known, then as many as a minute allows.
N ?= 300
.PHONY: mutate mutate-map mutate-short
mutate:
	@$(if $(RENEW),rm -f build/mutate/reach.json)
	@python3 tests/mutate/mutate.py --count $(N) --only "$(IN)" --again "$(AGAIN)" $(if $(NEAREST),--nearest) --also "$(ALSO)" $(if $(filter command line,$(origin SEED)),--seed $(SEED))
mutate-map:
	@python3 tests/mutate/mutate.py --map --again "$(AGAIN)"
mutate-short:
	@sh tests/one "a planted fault is found, and none where none is" python3 python3 tests/mutate/mutate.py --known --count 10 --budget 45

# ---- Fuzzing ----

# FUZZ_FLAGS go to every object, FUZZ_ENGINE to the link: fuzz/build.sh sets them as OSS-Fuzz wants it.
# Every object of an arena is an allocation of its own, so that a byte past it is seen. Inlining would take the compiler twice
# as long, and make what it builds a tenth to a fifth faster.
FUZZ_CC     ?= clang
FUZZ_FLAGS  ?= -DMACHSYM_ARENA_CHUNK=1 -gline-tables-only -O1 -fno-inline -fno-omit-frame-pointer -fno-sanitize-recover=undefined \
               -fsanitize=fuzzer-no-link,address,undefined
FUZZ_ENGINE ?= -fsanitize=fuzzer
FUZZ_LINK   ?= $(FUZZ_CC)

build/fuzzed/%.o: %.c
	@mkdir -p $(@D)
	$(call SAYS,CC,$<)
	$(Q)$(FUZZ_CC) $(STD) $(SYSTEM) $(API_ONLY) $(DEPENDS) $(FUZZ_FLAGS) -c -o $@ $<

build/fuzzed/fuzz_%.o: fuzz/fuzz_%.c
	@mkdir -p $(@D)
	$(call SAYS,CC,$<)
	$(Q)$(FUZZ_CC) $(STD) $(SYSTEM) $(API_ONLY) -I. $(DEPENDS) $(TEST_WARN) $(FUZZ_FLAGS) -c -o $@ $<

build/fuzz/%: build/fuzzed/fuzz_%.o
	@mkdir -p $(@D)
	$(call SAYS,LINK,$@)
	$(Q)$(FUZZ_LINK) $(FUZZ_FLAGS) -o $@ $^ $(FUZZ_ENGINE)

.PHONY: fuzz fuzz-short fuzz-replay fuzz-coverage
fuzz: $(FUZZERS)
fuzz-short: fuzz
	@TIME=$(TIME) SEED=$(SEED) sh fuzz/short $(FUZZERS)
fuzz-replay: $(REPLAYS)
	@B="$(B)" RUN="$(RUN)" sh tests/run tests/replay.sh
# Only seeds count, not what a fuzzer would find from them.
fuzz-coverage:
	@CC=$(FUZZ_CC) MAKE="$(MAKE)" sh fuzz/coverage $(FUZZ_C:fuzz/fuzz_%.c=%)

# ---- Hosts ----

# Each says "skipped" where its compiler or emulator is missing. A host runs what can differ there. s390x has the other order
# of bytes and a char without sign: every room and the golden outputs run. 32-bit sizes: the same, all that bounds what is
# used, and all seeds of the fuzz targets. What musl has of its own is the C library: what calls the system, allocates, runs
# threads or does arithmetic in text. aarch64 is in all that rooms can tell the plain build with s390x's char; the tool
# runs, and threads. The i386 headers of the kernel lie with those of x86_64 unless gcc-multilib links them.
HOST_TESTS := $(patsubst %,test_%,reader arena segments macho symbols objc swift forms units lines functions debugmap \
    loaded answer map_threads names)
HOST_SH    := atos crash demangle map
M32_TESTS  := $(HOST_TESTS) $(patsubst %,test_%,api alloc crash map_writer bounds threads) corrupt oom
M32_FUZZ   := $(PUBLIC_FUZZ) report_write
MUSL_TESTS := $(patsubst %,test_%,platform api arena alloc map_oom loaded crash map_writer map_threads threads names) oom
MUSL_SH    := $(HOST_SH) debugmap output files threads
# The Debian packages, by dpkg-buildpackage from a tree of their own, and what lintian says of them.
.PHONY: test-debian
test-debian:
	@sh tests/debian
.PHONY: test-dist soak-dist test-cmake test-bindings
test-dist: all
	@B="$(B)" sh tests/dist
soak-dist: all
	@B="$(B)" AGAIN="linux-x86_64 linux-aarch64 windows-x86_64.exe" PACKAGES="wheel sdist npm cargo go debian" sh tests/dist
# Every archive of make dist, installed in a new Debian without a network: minutes for each. PARTS="wheel npm": some; DIST=FOLDER.
.PHONY: soak-packages
soak-packages:
	@bash tests/packages
# server/packaging/Containerfile: its image is made by buildah, and its server names a report. Ten minutes.
.PHONY: soak-container
soak-container: all
	@MACHSYM="$(abspath $(B)/machsym)" bash tests/container
test-cmake: all
	@B="$(B)" CC="$(CC)" CFLAGS="$(CFLAGS)" sh tests/cmake
test-bindings: all
	@B="$(B)" CC="$(CC)" sh tests/bindings
# The npm package in build/js/machsym, and its tests.
.PHONY: wasm test-js
wasm:
	@sh bindings/js/build $(B)/js/machsym
test-js: all
	@B="$(B)" sh tests/js
.PHONY: test-m32 test-s390x test-aarch64 test-musl test-mingw test-wasm test-hosts
test-m32:
	@MAKE="$(MAKE)" sh tests/host m32 "gcc -m32 -idirafter /usr/include/x86_64-linux-gnu" "or qemu-i386" "" \
	    ONLY="$(M32_TESTS)" ONLY_SH="$(HOST_SH) debugmap" ONLY_FUZZ="$(M32_FUZZ)"
test-s390x:
	@MAKE="$(MAKE)" sh tests/host s390x s390x-linux-gnu-gcc qemu-s390x -static \
	    ONLY="$(HOST_TESTS)" ONLY_SH="$(HOST_SH)"
test-aarch64:
	@MAKE="$(MAKE)" sh tests/host aarch64 aarch64-linux-gnu-gcc qemu-aarch64 -static EXE="$(wildcard $(EXE))" \
	    ONLY="test_threads test_map_threads" ONLY_SH="atos demangle"
test-musl:
	@MAKE="$(MAKE)" sh tests/host musl musl-gcc "" -static CFLAGS="-O0 -Werror" \
	    ONLY="$(MUSL_TESTS)" ONLY_SH="$(MUSL_SH)"
test-mingw:
	@EXE="$(EXE)" MINGW_SH="$(MINGW_SH)" sh tests/host-mingw
test-wasm:
	@sh tests/host-wasm
test-hosts:
	@sh tests/sum "$(MAKE) test-m32" "$(MAKE) test-s390x" "$(MAKE) test-aarch64" "$(MAKE) test-musl" \
	    "$(MAKE) test-mingw" "$(MAKE) test-wasm"

.PHONY: help clean
help:
	@sed -n 's/^#   make/make/p' Makefile
	@echo "stricter: test-all damage soak-test soak-asan soak-flips soak-faults soak-unwind soak-dist surroundings rooms join-check format-check compile-matrix asan tsan msan torture coverage fixtures-check differential"
	@echo "fuzzing:  fuzz fuzz-short (TIME=15 SEED=1; another SEED explores) fuzz-replay fuzz-coverage"
	@echo "hosts:    test-hosts test-m32 test-s390x test-aarch64 test-musl test-mingw test-wasm"
	@echo "soak:     soak-stranger (make test twice in a new Debian) soak-packages (every archive, installed in a new Debian) soak-container"
	@echo "packages: dist test-dist test-debian test-cmake test-bindings bindings bindings-check man describe"
	@echo "others:   bench format clean"
clean:
	rm -rf build
	$(if $(filter-out $(NO_JOIN),$(MAKECMDGOALS)),@$(MAKE) $(B)/joined.mk)
