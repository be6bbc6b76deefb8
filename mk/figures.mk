# SPDX-License-Identifier: Apache-2.0
#
# From recordings to figures. One arrow, one rule:
#   data/raw/P/W/RUN          gradsync reduce --run      data/csv/parts/P/W/RUN/*.csv
#   all parts                 gradsync reduce --merge    data/csv/*.csv
#   data/raw/P/W/RUN          gradsync compare           compare.csv among both
#   parts of P/W              figures/panels             data/csv/panels/P/W/NAME.plot, figures.mk
#   NAME.plot                 figures/draw               figures/out/P/NAME-SCRIPT.{svg,png,pdf}
# P is a platform, W a workload. A stamp says when a rule last ran; its results are touched only when
# their content changes, so what stands behind an unchanged file is left alone.

##@ To see it
.PHONY: figures tables drawn
figures: all ## measure this machine if it never was, then every table and figure
	@bash mk/measure.sh '$(BUILD)/gradsync'
	@$(MAKE) --no-print-directory drawn

raw := data/raw
csv := data/csv
runs := $(patsubst $(raw)/%/,%,$(sort $(dir $(wildcard $(raw)/*/*/*/launch-*.jsonl))))
pairs := $(sort $(foreach r,$(runs),$(patsubst %/,%,$(dir $r))))
tables_of_a_run := samples summary iteration metrics launches compare

# $(call remember,FILE,TEXT): FILE holds TEXT, and is written only when it did not.
remember = $(if $(subst <$(strip $(file <$1))>,,<$(strip $2)>),$(shell mkdir -p $(dir $1))$(file >$1,$2))

# $(call part,RUN), $(call panels,P/W), $(call figure,SCRIPT,P/W,P/NAME)
define part
$(csv)/parts/$1/stamp: $(wildcard $(raw)/$1/*.jsonl $(raw)/$1/plan.json) $(library) $(BUILD)/runner/cmd_reduce.o $(BUILD)/runner/cmd_compare.o | $(BUILD)/gradsync
	$$(call quiet,REDUCE,$1)rm -rf $(csv)/parts/$1/.new && mkdir -p $(csv)/parts/$1 && \
	$(BUILD)/gradsync reduce -q --run $(raw)/$1 -o $(csv)/parts/$1/.new && \
	$(BUILD)/gradsync compare -q $(raw)/$1 -o $(csv)/parts/$1/.new && \
	bash mk/renew.sh $(csv)/parts/$1/.new $(csv)/parts/$1 && touch $$@
$(tables_of_a_run:%=$(csv)/parts/$1/%.csv): $(csv)/parts/$1/stamp
	@:
endef
define panels
$(csv)/panels/$1/stamp: $(foreach r,$(filter $1/%,$(runs)),$(addprefix $(csv)/parts/$r/,summary.csv iteration.csv samples.csv compare.csv)) $(csv)/panels/$1/runs $(csv)/transitions.csv figures/panels figures/panels.awk figures/verdicts.awk figures/features.awk
	@mkdir -p $$(@D) && FEATURES=$(csv)/transitions.csv bash figures/panels $(csv)/panels/$1 $1 $(patsubst %,$(csv)/parts/%,$(filter $1/%,$(runs))) && touch $$@
$(csv)/panels/$1/figures.mk: $(csv)/panels/$1/stamp
	@:
$(csv)/panels/$1/%.plot: $(csv)/panels/$1/stamp
	@:
endef
define figure
drawings += $(addprefix figures/out/$3-$1,.svg .png .pdf)
$(addprefix figures/out/$3-$1,.svg .png .pdf) &: $(csv)/panels/$2/$(notdir $3).plot figures/$1.gp $(style)
	$$(call quiet,FIGURE,figures/out/$3-$1)figures/draw $1 $$< figures/out/$3-$1
endef
style := figures/features.gp figures/draw figures/formats.gp figures/style.gp figures/words.gp figures/legend.gp figures/curve.gp figures/verdict.gp
drawings :=

ifneq ($(filter drawn tables,$(MAKECMDGOALS)),)
$(foreach r,$(runs),$(eval $(call part,$r)))
$(call remember,$(csv)/runs,$(runs))
gone := $(filter-out $(runs:%=$(csv)/parts/%/),$(dir $(wildcard $(csv)/parts/*/*/*/stamp)))
$(csv)/stamp: $(wildcard configs/*.ini) $(foreach r,$(runs),$(tables_of_a_run:%=$(csv)/parts/$r/%.csv)) $(csv)/runs
	@$(addprefix rm -rf ,$(gone))
	@$(if $(runs),$(BUILD)/gradsync reduce -q --merge $(runs:%=$(csv)/parts/%) -o $(csv) && bash mk/compare.sh $(csv) $(runs:%=$(csv)/parts/%) && \
	$(BUILD)/gradsync transitions -q $(csv),mkdir -p $(csv)) && \
	$(BUILD)/gradsync limits -q -o $(csv) $(wildcard configs/*.ini) && touch $@
$(csv)/transitions.csv $(csv)/limits.csv: $(csv)/stamp
	@:
tables: $(csv)/stamp
endif
ifneq ($(filter drawn,$(MAKECMDGOALS)),)
$(foreach p,$(pairs),$(call remember,$(csv)/panels/$p/runs,$(filter $p/%,$(runs)))$(eval $(call panels,$p)))
include $(pairs:%=$(csv)/panels/%/figures.mk)
# How often verdicts are wrong, by simulation; of the method, whatever was recorded.
ifneq ($(and $(runs),$(wildcard tests/sim/error_rates.c)),)
rates := $(addprefix figures/out/method/error_rates,.svg .png .pdf)
drawings += $(rates)
judges := $(addprefix $(BUILD)/runner/,stats.o rng.o verdict/contrast.o verdict/judgement.o verdict/student.o)
$(BUILD)/sim/error_rates.csv: tests/sim/error_rates.c $(judges) | $(BUILD)/sim/error_rates
	$(call quiet,SIMULATE,$@)mkdir -p $(@D) && $| >$@
$(csv)/panels/error_rates.plot: $(BUILD)/sim/error_rates.csv figures/error_rates.awk
	@mkdir -p $(@D) && awk -f figures/error_rates.awk $< >$@
$(rates) &: $(csv)/panels/error_rates.plot figures/error_rates.gp figures/draw figures/formats.gp figures/style.gp
	$(call quiet,FIGURE,figures/out/method/error_rates)figures/draw error_rates $< figures/out/method/error_rates
endif
# What was published, against what the platforms can do.
claims := $(addprefix figures/out/method/claims,.svg .png .pdf)
drawings += $(claims)
$(csv)/panels/claims.plot: $(csv)/limits.csv figures/claims.awk
	@mkdir -p $(@D) && awk -f figures/claims.awk $< >$@.new && if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(claims) &: $(csv)/panels/claims.plot figures/claims.gp figures/draw figures/formats.gp figures/style.gp figures/words.gp
	$(call quiet,FIGURE,figures/out/method/claims)figures/draw claims $< figures/out/method/claims
# What arithmetic says of a training between sites; nothing here was measured.
wan_plans := $(patsubst configs/%.ini,%,$(shell grep -lsx '\[model\]' configs/*.ini || true))
define wan_plan
drawings += $(foreach f,every claims,$(addprefix figures/out/$1/wan_$f,.svg .png .pdf))
$(csv)/wan/$1.csv $(csv)/wan/$1-claims.csv &: configs/$1.ini $(library) $(BUILD)/runner/cmd_model.o | $(BUILD)/gradsync
	@mkdir -p $$(@D) && $(BUILD)/gradsync model -q configs/$1.ini --csv $(csv)/wan/$1.csv --claims $(csv)/wan/$1-claims.csv
$(csv)/panels/$1-wan_every.plot: $(csv)/wan/$1.csv figures/wan_curves.awk
	@mkdir -p $$(@D) && awk -f figures/wan_curves.awk $$< >$$@
$(csv)/panels/$1-wan_claims.plot: $(csv)/wan/$1-claims.csv figures/wan_claims.awk
	@mkdir -p $$(@D) && awk -f figures/wan_claims.awk $$< >$$@
$(foreach f,every claims,$(call wan_figure,$f,$1))
endef
define wan_figure
$(addprefix figures/out/$2/wan_$1,.svg .png .pdf) &: $(csv)/panels/$2-wan_$1.plot figures/wan_$1.gp $(style)
	$$(call quiet,FIGURE,figures/out/$2/wan_$1)figures/draw wan_$1 $$< figures/out/$2/wan_$1

endef
$(foreach p,$(wan_plans),$(eval $(call wan_plan,$p)))
ifneq ($(wildcard tests/sim/wan_needed.c),)
needed := $(addprefix figures/out/method/wan_needed,.svg .png .pdf)
drawings += $(needed)
$(csv)/wan/needed.csv: tests/sim/wan_needed.c $(BUILD)/runner/wan/model.o | $(BUILD)/sim/wan_needed
	@mkdir -p $(@D) && $| >$@
$(csv)/panels/wan_needed.plot: $(csv)/wan/needed.csv figures/wan_curves.awk
	@mkdir -p $(@D) && awk -f figures/wan_curves.awk $< >$@
$(needed) &: $(csv)/panels/wan_needed.plot figures/wan_needed.gp $(style)
	$(call quiet,FIGURE,figures/out/method/wan_needed)figures/draw wan_needed $< figures/out/method/wan_needed
endif
drawn: tables $(drawings)
	@$(if $(drawings),,echo 'No recording to draw: make run PLATFORM=…' >&2)
	@$(addprefix rm -f ,$(filter-out $(drawings),$(wildcard figures/out/*/*)))
endif
