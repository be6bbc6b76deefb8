# SPDX-License-Identifier: Apache-2.0
#
# The tuner plugin that NCCL loads into a user's job: no CUDA, no NCCL, nothing but libc is needed.

tuner := $(BUILD)/libnccl-tuner-gradsync.so
tuner_obj := $(patsubst %.c,$(BUILD)/tuner/%.o,$(wildcard plugins/nccl_tuner/*.c) plugins/common/rng.c)

all install: $(tuner)
# Of rng.c only what is used is linked: the rest needs libm.
$(tuner): $(tuner_obj)
	$(call quiet,LINK,$@)$(CC) -shared $(CFLAGS) $(LDFLAGS) $(gs_harden_ld) -Wl,-z,defs -Wl,--gc-sections -o $@ $^ -lpthread
$(BUILD)/tuner/%.o: %.c | $(BUILD)/deps.ok
	$(call quiet,CC,$<)mkdir -p $(@D) && $(CC) $(compile) -fPIC -fvisibility=hidden -ffunction-sections -c -o $@ $<

-include $(tuner_obj:.o=.d)

# Tests: the parts that need no NCCL in a unit test, and a job that plays NCCL's part.
$(BUILD)/tests/test_tuner: $(patsubst %,plugins/nccl_tuner/%.c,rules sequence trial_config)
tuner_job := $(BUILD)/tuner/job
test-programs: $(tuner_job)
$(tuner_job): tests/tuner/job.c tests/tuner/host.c tests/tuner/host.h $(wildcard plugins/nccl_tuner/*_abi.h)
	$(call quiet,TEST,$<)mkdir -p $(@D) && $(CC) $(filter-out -MMD -MP,$(compile)) $(LDFLAGS) -o $@ $(filter %.c,$^) -ldl -lpthread
$(BUILD)/bench/tuner_calls: tests/tuner/host.c
$(BUILD)/fuzz/fuzz_tuner: $(patsubst %,plugins/nccl_tuner/%.c,rules sequence trial_config)
