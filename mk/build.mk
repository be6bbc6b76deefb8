# SPDX-License-Identifier: Apache-2.0
#
# The programs: gradsync (no MPI, no CUDA), gradsync-rank (MPI), and the library both are made of.

comma := ,
iniparser_dir := $(firstword $(wildcard /usr/include/iniparser /usr/local/include/iniparser))
CPPFLAGS_ALL := -std=c11 -D_GNU_SOURCE -Irunner -Iplugins $(iniparser_dir:%=-isystem %) -MMD -MP
# STATIC=1: in the program, so that it runs where they are not installed (wheel.mk).
LIBS := $(if $(STATIC),-Wl$(comma)-Bstatic) -liniparser -ljansson -lsodium -lcrypto -lsqlite3 $(if $(STATIC),-Wl$(comma)-Bdynamic) \
	-lm -ldl -lpthread
# Hardening as in plugins (plugin.mk); programs are position-independent.
compile = $(CPPFLAGS_ALL) $(WARNINGS) $(CFLAGS) $(gs_harden_cc) $(if $(gs_hardened),-fPIE)
link_program = $(CFLAGS) $(LDFLAGS) $(gs_harden_ld) $(if $(gs_hardened),-pie) -rdynamic

# The rooms of runner/ (CONTRIBUTING.md). All of them but verbs/ and rank/ make the library; rank/ alone
# is compiled with MPI.
not_lib := runner/verbs/% runner/rank/%
lib_src := $(filter-out $(not_lib),$(wildcard runner/*/*.c)) plugins/common/collective.c plugins/common/rng.c $(wildcard plugins/common/wan_*.c)
lib_obj := $(lib_src:%.c=$(BUILD)/%.o)
cmd_obj := $(patsubst %.c,$(BUILD)/%.o,$(wildcard runner/verbs/*.c))
rank_obj := $(patsubst %.c,$(BUILD)/%.o,$(wildcard runner/rank/*.c))
library := $(BUILD)/libgradsync.a
commit := $(BUILD)/commit.o

##@ Measure
.PHONY: all run plan FORCE
all: ## build everything for which this machine has the libraries
all: $(BUILD)/gradsync $(BUILD)/gradsync-rank plugins

$(BUILD)/deps.ok: mk/found.sh | $(BUILD)/
	@CC='$(CC)' MPICC='$(MPICC)' CUDA_HOME='$(CUDA_HOME)' NCCL_HOME='$(NCCL_HOME)' bash mk/found.sh --require $(TELL)
	@touch $@

$(library): $(lib_obj)
	$(call quiet,AR,$@)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/gradsync: $(cmd_obj) $(commit) $(library)
	$(call quiet,LINK,$@)$(CC) $(link_program) -o $@ $^ $(LIBS)
$(BUILD)/gradsync-rank: $(rank_obj) $(commit) $(library)
	$(call quiet,LINK,$@)OMPI_CC='$(CC)' $(MPICC) $(link_program) -o $@ $^ $(LIBS) -lpthread

# Other options than those of the last build: everything is compiled again. (A folder that does not know
# its options yet is taken to have these.) Warnings do not change objects.
options = $(CC) $(CPPFLAGS_ALL) $(CFLAGS) $(LDFLAGS) $(gs_harden_cc) $(gs_harden_ld)
$(BUILD)/options: export build_options = $(options)
$(BUILD)/options: FORCE | $(BUILD)/
	@printf '%s\n' "$$build_options" >$@.new; if cmp -s $@.new $@; then rm $@.new; else \
	  [ -e $@ ] || touch -d @0 $@.new; mv $@.new $@; fi

$(BUILD)/runner/rank/%.o: runner/rank/%.c $(BUILD)/options | $(BUILD)/deps.ok
	$(call quiet,MPICC,$<)mkdir -p $(@D) && OMPI_CC='$(CC)' $(MPICC) $(compile) -c -o $@ $<
$(BUILD)/runner/publish/report.o: runner/publish/report.html # which report.c embeds
$(BUILD)/runner/wan/watch_lines.o: runner/wan/watch.table # which it embeds
$(BUILD)/%.o: %.c $(BUILD)/options | $(BUILD)/deps.ok
	$(call quiet,CC,$<)mkdir -p $(@D) && $(CC) $(compile) -c -o $@ $<

# Made anew when the commit is another, not when it is the same: nothing is linked for nothing.
git_commit := $(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown)
$(BUILD)/commit.c: FORCE | $(BUILD)/
	@printf '#include "base/version.h"\nconst char gradsync_commit[] = "%s";\n' '$(git_commit)' >$@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(commit): $(BUILD)/commit.c runner/base/version.h
	@$(CC) $(compile) -c -o $@ $<
FORCE:

$(BUILD)/gradsync.1: mk/manual.sh $(BUILD)/gradsync
	$(call quiet,MANUAL,$@)bash mk/manual.sh $(BUILD)/gradsync >$@

%/:
	@mkdir -p $@
.PRECIOUS: %/

config = $(if $(PLATFORM),$(PLATFORM:%=configs/%.ini),$(error which platform? PLATFORM=local, or another of configs/: $(patsubst configs/%.ini,%,$(wildcard configs/*.ini))))
run: all ## PLATFORM=NAME measure the platform of configs/NAME.ini
	@$(BUILD)/gradsync run $(config) $(ARGS)
plan: all ## PLATFORM=NAME list its cells, memory and time; measure nothing
	@$(BUILD)/gradsync plan $(config) $(ARGS)

-include $(lib_obj:.o=.d) $(cmd_obj:.o=.d) $(rank_obj:.o=.d)
