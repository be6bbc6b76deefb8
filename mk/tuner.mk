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

# The object that is preloaded into a job to take the price of communication: libc alone is needed; where MPI
# is, it is in front of MPI, too, and finds MPI's functions when they are called.
price := $(BUILD)/libgradsync-price.so
has_mpi := $(shell command -v $(firstword $(MPICC)) 2>/dev/null)
price_shared := choice trial trial_config
price_obj := $(patsubst %.c,$(BUILD)/tuner/%.o,$(price_shared:%=plugins/nccl_tuner/%.c) plugins/common/rng.c \
	plugins/price/preload.c plugins/price/price_nccl.c $(if $(has_mpi),plugins/price/price_mpi.c))
all install: $(price)
$(price): $(price_obj)
	$(call quiet,LINK,$@)$(CC) -shared $(CFLAGS) $(LDFLAGS) $(gs_harden_ld) -Wl,-z,defs -Wl,--gc-sections -o $@ $^ -lpthread -ldl
$(BUILD)/tuner/plugins/price/price_mpi.o: plugins/price/price_mpi.c | $(BUILD)/deps.ok
	$(call quiet,MPICC,$<)mkdir -p $(@D) && OMPI_CC='$(CC)' $(MPICC) $(compile) -fPIC -fvisibility=hidden -ffunction-sections -c -o $@ $<

-include $(price_obj:.o=.d)

# A program that trains over MPI: what a price is tried on without GPUs.
mpi_train := $(BUILD)/examples/mpi_train
$(if $(has_mpi),all: $(mpi_train))
$(mpi_train): docs/examples/mpi_train/mpi_train.c $(BUILD)/options | $(BUILD)/deps.ok
	$(call quiet,MPICC,$<)mkdir -p $(@D) && OMPI_CC='$(CC)' $(MPICC) $(filter-out -MMD -MP,$(compile)) $(LDFLAGS) $(if $(gs_hardened),-pie) -o $@ $<

# Tests: the parts that need no NCCL in a unit test, and a job that plays NCCL's part.
$(BUILD)/tests/test_tuner: plugins/nccl_tuner/trial_config.c
tuner_job := $(BUILD)/tuner/job
test-programs: $(tuner_job)
$(tuner_job): tests/tuner/job.c tests/tuner/host.c tests/tuner/host.h plugins/nccl_tuner/nccl_abi.h
	$(call quiet,TEST,$<)mkdir -p $(@D) && $(CC) $(filter-out -MMD -MP,$(compile)) $(LDFLAGS) -o $@ $(filter %.c,$^) -ldl -lpthread
$(BUILD)/bench/tuner_calls: tests/tuner/host.c
$(BUILD)/fuzz/fuzz_tuner: plugins/nccl_tuner/trial_config.c
