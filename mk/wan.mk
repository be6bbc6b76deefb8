# SPDX-License-Identifier: Apache-2.0
#
# Figures of training between sites: what wan_sync measured, what arithmetic says of each config with
# a [model], and what bandwidth a utilisation needs beside the published points.

##@ Figures and paper
.PHONY: model-error
model-error: figures-all ## print the error of the WAN model for each network, beside the spread of its recording
	@awk -F, 'NR == 1 { printf "%-24s %6s %8s %8s %8s %8s  %s\n", $$1, $$3, "median", "worst", "spread", "beyond", "at"; next } \
	  { printf "%-24s %6d %7.1f%% %7.1f%% %7.1f%% %7.1f%%  %s, %s B\n", $$1, $$3, 100 * $$4, 100 * $$5, 100 * $$7, 100 * $$8, $$9, $$10 }' \
	  data/csv/wan/model-error.csv

##@ Measure
.PHONY: wan-lab
wan-lab: all ## JOBS=1 WORD=loss measure wan_sync in emulated networks whose name has WORD, JOBS at a time
	@bash mk/wan-lab.sh '$(BUILD)/gradsync' data/raw '$(or $(JOBS),1)' $(WORD)

# Numbers of the documents are read from them as well, so they are among the tables of every recording.
ifneq ($(filter sound-drawn sound-tables written,$(MAKECMDGOALS)),)
define wan_plan
$(csv)/wan/$1.csv $(csv)/wan/$1-claims.csv &: configs/$1.ini $(library) $(BUILD)/runner/verbs/wan.o | $(BUILD)/gradsync
	@mkdir -p $$(@D) && $(BUILD)/gradsync model -q configs/$1.ini --csv $(csv)/wan/$1.csv --claims $(csv)/wan/$1-claims.csv
endef
wan_plans := $(patsubst configs/%.ini,%,$(shell grep -lsx '\[model\]' $(configs:%=configs/%.ini) /dev/null || true))
$(foreach p,$(wan_plans),$(eval $(call wan_plan,$p)))

$(csv)/wan/needed.csv: mk/wan-needed.sh $(library) | $(BUILD)/gradsync
	@mkdir -p $(@D) && bash $< $(BUILD)/gradsync >$@.new && mv $@.new $@
sound-tables: $(wan_plans:%=$(csv)/wan/%.csv) $(csv)/wan/needed.csv
endif

ifneq ($(draws),)

define wan_plan_figures
$(call drawing,$1/wan_every,wan_every,$(csv)/wan/$1.csv,wan_every)
$(call drawing,$1/wan_claims,wan_claims,$(csv)/wan/$1-claims.csv,wan_claims)
endef
$(if $(ONLY),,$(foreach p,$(wan_plans),$(eval $(call wan_plan_figures,$p))))
$(if $(ONLY),,$(eval $(call drawing,method/wan_needed,wan_needed,$(csv)/wan/needed.csv,wan_needed)))

# How far the model is from them, also where there are none: the paper asks.
wan_errors := $(csv)/wan/model-error.csv
sound-drawn: $(wan_errors)
$(wan_errors): $(csv)/wan.csv figures/wan_cells.sql figures/wan_errors.sql
	@mkdir -p $(@D) && $(BUILD)/gradsync query -q --format csv --table $< -- "$$(cat $(wordlist 2,3,$^))" >$@.new && mv $@.new $@

# Of recordings of wan_sync between sites: synchronisations alone, and trainings that compute between
# them. One whose config names no sites has neither a rate nor a model to be drawn by.
wan_runs := $(foreach r,$(shown),$(if $(findstring /wan_sync/,$r),$r/config.ini))
wan_runs := $(if $(wan_runs),$(patsubst %config.ini,%plan.json,$(shell cd $(raw) && grep -lsx '\[sites\]' $(wan_runs) || true)))
wan_plans_of = $(if $(wan_runs),$(shell cd $(raw) && grep -ls $1 $(wan_runs) || true))
ifneq ($(call wan_plans_of,-E ' compute=0 (compute_kind=emulated|tokens)'),)
$(foreach f,sync_size sync_size_slow sync_rtt sync_rtt_small,$(eval $(call drawing,wan/$f,wan_sync,$(csv)/wan.csv,wan_cells wan_sync)))
endif
ifneq ($(call wan_plans_of,-E ' strategy=[^m]'),)
$(eval $(call drawing,wan/modelled,wan_modelled,$(csv)/wan.csv,wan_cells wan_modelled))
endif
ifneq ($(call wan_plans_of,-E ' compute=[1-9]| compute_kind=gemm '),)
$(eval $(call drawing,wan/every,wan_trained,$(csv)/wan.csv,wan_cells wan_trained))
endif

endif
