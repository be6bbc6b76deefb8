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
wan_plans := $(if $(platforms),$(patsubst configs/%.ini,%,$(shell grep -lsx '\[model\]' $(platforms:%=configs/%.ini) || true)))
$(csv)/wan/%.csv $(csv)/wan/%-claims.csv: configs/%.ini $(library) $(BUILD)/runner/verbs/wan.o | $(BUILD)/gradsync
	@mkdir -p $(@D) && $(BUILD)/gradsync model -q configs/$*.ini --csv $(csv)/wan/$*.csv --claims $(csv)/wan/$*-claims.csv
$(csv)/wan/needed.csv: mk/wan-needed.sh $(library) | $(BUILD)/gradsync
	@mkdir -p $(@D) && bash $< $(BUILD)/gradsync >$@.new && mv $@.new $@
sound-tables: $(wan_plans:%=$(csv)/wan/%.csv) $(csv)/wan/needed.csv

$(wan_plans:%=$(drawn)/wan_every/%/stamp): $(drawn)/wan_every/%/stamp: $(csv)/wan/%.csv
$(wan_plans:%=$(drawn)/wan_claims/%/stamp): $(drawn)/wan_claims/%/stamp: $(csv)/wan/%-claims.csv
$(drawn)/wan_needed/stamp: $(csv)/wan/needed.csv
drawings += $(if $(ONLY),,$(wan_plans:%=wan_every/%) $(wan_plans:%=wan_claims/%) wan_needed)
# Of recordings of wan_sync: synchronisations alone, and trainings that compute between them.
drawings += $(if $(findstring /wan_sync/,$(shown)),$(addprefix wan_sync/,sync_size sync_size_slow sync_rtt sync_rtt_small) wan_modelled wan_trained)

# How far the model is from them, also where there are none: the paper asks.
wan_errors := $(csv)/wan/model-error.csv
sound-drawn: $(wan_errors)
$(wan_errors): figures/wan_cells.sql figures/wan_errors.sql $(csv)/stamp
	@mkdir -p $(@D) && $(BUILD)/gradsync query -q --stored --format csv -- "$$(cat $(wordlist 1,2,$^))" >$@.new && mv $@.new $@
