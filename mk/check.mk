# SPDX-License-Identifier: Apache-2.0
#
# What shows that it is right: tests, all of them through prove, the checksums of the recordings,
# fuzzers, the speeds it is held to, and linters.

unit_src := $(wildcard tests/unit/test_*.c)
unit_bin := $(unit_src:tests/unit/%.c=$(BUILD)/tests/%)
unit_lib := $(filter-out $(unit_src),$(wildcard tests/unit/*.c))
bench_bin := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))
sim_lib := tests/sim/truth.c tests/sim/rates.c
sim_bin := $(patsubst tests/sim/%.c,$(BUILD)/sim/%,$(filter-out $(sim_lib),$(wildcard tests/sim/*.c)))
fuzz_src := $(wildcard tests/fuzz/fuzz_*.c)
fuzz_bin := $(fuzz_src:tests/fuzz/%.c=$(BUILD)/fuzz/%)
CLANG ?= clang
FUZZ_SECONDS ?= 60

sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
asan = BUILD='$(BUILD)/asan' TELL='>/dev/null' WARNINGS='-Wall -Wno-format-truncation' CFLAGS='-O1 -g $(sanitize)'
fuzz = BUILD='$(BUILD)/fuzzing' TELL='>/dev/null' CC='$(CLANG)' WARNINGS=-Wall \
	CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'

##@ Checks and benchmarks
.PHONY: check check-all check-asan unit golden verify sums bench bench-wan fuzz fuzzers lint asan-build test-programs
check: test-programs $(fuzz_bin:=.o) ## run the fast tests, under 5 minutes; TESTS=REGEX: those that match, slow ones too
	@BUILD='$(BUILD)' TESTS='$(TESTS)' bash tests/run
check-all: ## run every test: also Slurm, emulated sites, faults, fuzzing, ASan and UBSan
check-all: test-programs asan-build $(if $(shell command -v $(CLANG) || true),fuzzers)
	@BUILD='$(BUILD)' TESTS='$(TESTS)' bash tests/run --all
check-asan: asan-build ## run the tests under ASan and UBSan only
	@BUILD='$(BUILD)' TESTS='$(TESTS)' bash tests/run --asan
unit: $(unit_bin)
	@BUILD='$(BUILD)' bash tests/run $^
test-programs: all $(unit_bin) $(bench_bin) $(sim_bin)
asan-build:
	@$(MAKE) --no-print-directory $(asan) test-programs

golden: all $(BUILD)/sim/make_campaign # writes the transcripts of tests/golden and the messages of tests/bad anew; read the diff
	@BUILD='$(BUILD)' RENEW=1 bash tests/test_golden.sh
	@BUILD='$(BUILD)' RENEW=1 bash tests/test_bad.sh

verify: all ## check the checksums of every recording
	@bash mk/sums.sh --check '$(BUILD)/gradsync'
sums: all # enters new recordings in data/SHA256SUMS, for a commit
	@bash mk/sums.sh --add '$(BUILD)/gradsync'

bench: all $(bench_bin) $(BUILD)/sim/make_campaign ## measure the speed and memory of gradsync itself, each beside its limit
	@export BUILD='$(BUILD)'; bash tests/bench/bench.sh && bash tests/bench/tune.sh
bench-wan: all ## PART=latency compare wan_sync in a lab with the lower bounds; PART=peers: with Open MPI at its best
	@BUILD='$(BUILD)' bash tests/bench/wan.sh $(PART)

fuzzers: # the fuzz targets, built
	@$(MAKE) --no-print-directory $(fuzz) $(fuzz_bin:$(BUILD)/fuzz/%=$(BUILD)/fuzzing/fuzz/%)
fuzz: fuzzers ## FUZZ_SECONDS=60 fuzz each parser with libFuzzer (needs clang)
	@for f in $(fuzz_bin:$(BUILD)/fuzz/%=$(BUILD)/fuzzing/fuzz/%); do \
	  bash tests/fuzz/run "$$f" $(FUZZ_SECONDS); done

lint: ## check the sources with clang-format, clang-tidy and shellcheck
	@CPPFLAGS='$(CPPFLAGS_ALL)' CUDA_HOME='$(CUDA_HOME)' MPICC='$(MPICC)' bash mk/lint.sh

# What these are made of is compiled in one call, whose own dependencies are of its last source. What
# a test includes is among its dependencies, and is not compiled once more.
test_parts = $(filter-out tests/unit/../%,$(wildcard $(filter %.c,$^)) $(filter %.o,$^) $(filter %.a,$^))
# Sources that are gone may still be among the dependencies of an older build.
plugins/%.c: ;
runner/%.c: ;
test_depends = $(filter-out -MMD -MP,$(CPPFLAGS_ALL)) -MM -MP -MT $@ $(filter %.c,$(test_parts)) >$@.d
$(BUILD)/tests/%: tests/unit/%.c $(unit_lib) $(commit) $(library)
	$(call quiet,TEST,$<)mkdir -p $(@D) && $(CC) $(compile) $(LDFLAGS) -rdynamic -o $@ $(test_parts) $(LIBS) -lpthread -lcmocka && $(CC) $(test_depends)
# This part of rank/ needs no MPI:
$(BUILD)/tests/test_stopping: $(BUILD)/runner/rank/stopping.o
$(BUILD)/tests/test_wan_tcp: $(wildcard plugins/wan_sync/transport/tcp*.c)
$(BUILD)/tests/test_wan_tcp_faults: $(filter-out %_join.c,$(wildcard plugins/wan_sync/transport/tcp*.c))
$(BUILD)/tests/test_wan_schedule: plugins/wan_sync/wire.c
$(BUILD)/bench/wan_link: $(wildcard plugins/wan_sync/transport/tcp*.c)
$(BUILD)/bench/%: tests/bench/%.c $(commit) $(library)
	$(call quiet,TEST,$<)mkdir -p $(@D) && OMPI_CC='$(CC)' $(MPICC) $(compile) $(LDFLAGS) -o $@ $(test_parts) $(LIBS) && OMPI_CC='$(CC)' $(MPICC) $(test_depends)
$(BUILD)/sim/error_rates: $(sim_lib) $(BUILD)/runner/rank/stopping.o
$(BUILD)/sim/%: tests/sim/%.c $(commit) $(library)
	$(call quiet,TEST,$<)mkdir -p $(@D) && $(CC) $(compile) $(LDFLAGS) -o $@ $(test_parts) $(LIBS) -lpthread && $(CC) $(test_depends)
$(BUILD)/fuzz/%.o: tests/fuzz/%.c $(BUILD)/options | $(BUILD)/deps.ok
	$(call quiet,FUZZ,$<)mkdir -p $(@D) && $(CC) $(compile) -c -o $@ $<
$(BUILD)/fuzz/fuzz_import: $(BUILD)/runner/verbs/check.o $(BUILD)/runner/verbs/machine.o
$(BUILD)/fuzz/%: tests/fuzz/%.c $(commit) $(library)
	$(call quiet,FUZZ,$<)mkdir -p $(@D) && $(CC) $(compile) $(LDFLAGS) -fsanitize=fuzzer -o $@ $(test_parts) $(LIBS)
-include $(unit_bin:=.d) $(bench_bin:=.d) $(sim_bin:=.d) $(fuzz_bin:=.d)
