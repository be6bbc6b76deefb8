# SPDX-License-Identifier: Apache-2.0
#
# Figures of the method, whatever was recorded.

ifneq ($(draws),)

# How often verdicts are wrong, by simulation.
ifneq ($(and $(runs),$(wildcard tests/sim/error_rates.c)),)
judges := $(addprefix $(BUILD)/runner/,stats.o rng.o verdict/contrast.o verdict/judgement.o verdict/student.o)
$(BUILD)/sim/error_rates.csv: tests/sim/error_rates.c tests/sim/truth.c $(judges) | $(BUILD)/sim/error_rates
	$(call quiet,SIMULATE,$@)mkdir -p $(@D) && $| >$@
$(eval $(call drawing,method/error_rates,error_rates,$(BUILD)/sim/error_rates.csv,error_rates))
endif

# What was published, against what the platforms can do.
$(eval $(call drawing,method/claims,claims,$(csv)/limits.csv,csv claims))

endif
