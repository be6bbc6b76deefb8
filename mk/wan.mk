# SPDX-License-Identifier: Apache-2.0
#
# Figures of training between sites: what arithmetic says of each config with a [model], and what
# bandwidth a utilisation needs beside the published points.

ifneq ($(filter drawn written,$(MAKECMDGOALS)),)

define wan_plan
$(csv)/wan/$1.csv $(csv)/wan/$1-claims.csv &: configs/$1.ini $(library) $(BUILD)/runner/cmd_model.o | $(BUILD)/gradsync
	@mkdir -p $$(@D) && $(BUILD)/gradsync model -q configs/$1.ini --csv $(csv)/wan/$1.csv --claims $(csv)/wan/$1-claims.csv
$(call drawing,$1/wan_every,wan_every,$(csv)/wan/$1.csv,wan_curves)
$(call drawing,$1/wan_claims,wan_claims,$(csv)/wan/$1-claims.csv,wan_claims)
endef
wan_plans := $(patsubst configs/%.ini,%,$(shell grep -lsx '\[model\]' configs/*.ini || true))
$(foreach p,$(wan_plans),$(eval $(call wan_plan,$p)))

ifneq ($(wildcard tests/sim/wan_needed.c),)
$(csv)/wan/needed.csv: tests/sim/wan_needed.c $(BUILD)/runner/wan/model.o | $(BUILD)/sim/wan_needed
	@mkdir -p $(@D) && $| >$@
$(eval $(call drawing,method/wan_needed,wan_needed,$(csv)/wan/needed.csv,wan_curves))
endif

endif
