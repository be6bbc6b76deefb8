# SPDX-License-Identifier: Apache-2.0
#
# The object that is preloaded into a job to take the price of communication: libc alone is needed; where MPI
# is, it is in front of MPI, too, and finds MPI's functions when they are called.

price := $(BUILD)/libgradsync-price.so
has_mpi := $(shell command -v $(firstword $(MPICC)) 2>/dev/null)
price_obj := $(patsubst %.c,$(BUILD)/price/%.o,$(filter-out plugins/price/price_mpi.c,$(wildcard plugins/price/*.c)) \
	plugins/common/choice.c plugins/common/rng.c $(if $(has_mpi),plugins/price/price_mpi.c))
all install: $(price)
# Of rng.c only what is used is linked: the rest needs libm.
$(price): $(price_obj)
	$(call quiet,LINK,$@)$(CC) -shared $(CFLAGS) $(LDFLAGS) $(gs_harden_ld) -Wl,-z,defs -Wl,--gc-sections -o $@ $^ -lpthread -ldl
$(BUILD)/price/%.o: %.c | $(BUILD)/deps.ok
	$(call quiet,CC,$<)mkdir -p $(@D) && $(CC) $(compile) -fPIC -fvisibility=hidden -ffunction-sections -c -o $@ $<
$(BUILD)/price/plugins/price/price_mpi.o: plugins/price/price_mpi.c | $(BUILD)/deps.ok
	$(call quiet,MPICC,$<)mkdir -p $(@D) && OMPI_CC='$(CC)' $(MPICC) $(compile) -fPIC -fvisibility=hidden -ffunction-sections -c -o $@ $<

-include $(price_obj:.o=.d)

# A program that trains over MPI: what a price is tried on without GPUs.
mpi_train := $(BUILD)/examples/mpi_train
$(if $(has_mpi),all: $(mpi_train))
$(mpi_train): docs/examples/mpi_train/mpi_train.c $(BUILD)/options | $(BUILD)/deps.ok
	$(call quiet,MPICC,$<)mkdir -p $(@D) && OMPI_CC='$(CC)' $(MPICC) $(filter-out -MMD -MP,$(compile)) $(LDFLAGS) $(if $(gs_hardened),-pie) -o $@ $<
