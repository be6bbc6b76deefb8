# SPDX-License-Identifier: Apache-2.0
#
# The engine: an object that is preloaded into a job, and one for LD_AUDIT. They need libc alone; where MPI is, the engine
# is in front of MPI, too. It finds the functions of NCCL, CUDA and MPI when the job calls them.

engine := $(BUILD)/libgradsync-engine.so
audit := $(BUILD)/libgradsync-audit.so
has_mpi := $(shell command -v $(firstword $(MPICC)) 2>/dev/null)
engine_obj := $(patsubst %.c,$(BUILD)/engine/%.o,$(filter-out %/mpi.c %/audit.c,$(wildcard plugins/engine/*.c)) \
	plugins/common/rng.c $(if $(has_mpi),$(wildcard plugins/engine/mpi.c)))

all install: $(engine) $(audit)
# Of rng.c only what is used is linked: the rest needs libm.
$(engine): $(engine_obj)
	$(call quiet,LINK,$@)$(CC) -shared $(CFLAGS) $(LDFLAGS) $(gs_harden_ld) -Wl,-z,defs -Wl,--gc-sections -o $@ $^ -lpthread -ldl
$(audit): $(BUILD)/engine/plugins/engine/audit.o
	$(call quiet,LINK,$@)$(CC) -shared $(CFLAGS) $(LDFLAGS) $(gs_harden_ld) -Wl,-z,defs -o $@ $^
$(BUILD)/engine/%.o: %.c | $(BUILD)/deps.ok
	$(call quiet,CC,$<)mkdir -p $(@D) && $(CC) $(compile) -fno-strict-aliasing -fPIC -fvisibility=hidden -ffunction-sections -c -o $@ $<
$(BUILD)/engine/plugins/engine/mpi.o: plugins/engine/mpi.c | $(BUILD)/deps.ok
	$(call quiet,MPICC,$<)mkdir -p $(@D) && OMPI_CC='$(CC)' $(MPICC) $(compile) -fPIC -fvisibility=hidden -ffunction-sections -c -o $@ $<

-include $(engine_obj:.o=.d) $(BUILD)/engine/plugins/engine/audit.d

# A program that trains over MPI: what a price is tried on without GPUs.
mpi_train := $(BUILD)/examples/mpi_train
$(if $(has_mpi),all: $(mpi_train))
$(mpi_train): docs/examples/mpi_train/mpi_train.c $(BUILD)/options | $(BUILD)/deps.ok
	$(call quiet,MPICC,$<)mkdir -p $(@D) && OMPI_CC='$(CC)' $(MPICC) $(filter-out -MMD -MP,$(compile)) $(LDFLAGS) $(if $(gs_hardened),-pie) -o $@ $<

# A machine with GPUs that is pretended (tests/engine), on which the engine is tested with real processes.
pretended := $(BUILD)/engine/pretended
test-programs: $(pretended)/libnccl.so.2 $(pretended)/job
$(pretended)/libcuda.so.1: tests/engine/cuda.c
	$(call quiet,TEST,$<)mkdir -p $(@D) && $(CC) -O2 -g -std=c11 -fPIC -shared -Wl,-soname,libcuda.so.1 -o $@ $< -lpthread
$(pretended)/libnccl.so.2: tests/engine/nccl.c $(pretended)/libcuda.so.1
	$(call quiet,TEST,$<)$(CC) -O2 -g -std=c11 -fPIC -shared -Wl,-soname,libnccl.so.2 -o $@ $^ -lpthread -lrt
$(pretended)/job: tests/engine/job.c $(pretended)/libcuda.so.1
	$(call quiet,TEST,$<)$(CC) -O2 -g -std=c11 -o $@ $< -ldl -lpthread
