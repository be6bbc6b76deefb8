# SPDX-License-Identifier: Apache-2.0
#
# Figures of the method, whatever was recorded.

# How often verdicts are wrong, by simulation.
ifneq ($(wildcard tests/sim/error_rates.c),)
judges := $(BUILD)/plugins/common/rng.o $(addprefix $(BUILD)/runner/,base/stats.o rank/stopping.o \
	compare/contrast.o compare/collect.o)
$(BUILD)/sim/error_rates.csv: tests/sim/error_rates.c tests/sim/truth.c tests/sim/rates.c $(judges) | $(BUILD)/sim/error_rates
	$(call quiet,SIMULATE,$@)mkdir -p $(@D) && $| >$@

##@ Checks and benchmarks
.PHONY: error-rates
error-rates: $(BUILD)/sim/error_rates.csv ## simulate how often verdicts and intervals are wrong
	@awk -F, 'FNR > 1 { if ($$1 != last) print $$1; last = $$1; \
	  printf "  %-42s %5.1f%% [%.1f, %.1f]\n", $$2, 100 * $$4, 100 * $$5, 100 * $$6 }' $<
endif

# They are drawn where there is a recording.
$(csv)/error_rates.csv: $(BUILD)/sim/error_rates.csv
	@mkdir -p $(@D) && cp $< $@
$(drawn)/error_rates/stamp: $(csv)/error_rates.csv
drawings += $(if $(ONLY),,claims $(if $(and $(runs),$(wildcard tests/sim/error_rates.c)),error_rates))
