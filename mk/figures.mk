# SPDX-License-Identifier: Apache-2.0
#
# From recordings to figures. One arrow, one rule:
#   data/raw                  gradsync query --export   data/csv/*.csv, by way of data/gradsync.db
#   compare.csv, chosen.csv   gradsync compare --again   data/csv/again.csv, data/csv/chosen/again.csv
#   the rows of P/W           figures/panels             data/csv/panels/P/W/NAME.plot, figures.mk
#   NAME.plot                 figures/draw               figures/out/P/NAME-SCRIPT.{svg,png,pdf}
#   tables                    figures/*.sql, draw        figures/out/FOLDER/NAME.{svg,png,pdf}
# P is a platform, W a workload. A stamp says when a rule last ran; its results are touched only when
# their content changes, so nothing is made again from an unchanged file.

##@ Figures and paper
.PHONY: figures figures-all tables drawn reduced sound-tables sound-drawn
# A PLATFORM of the environment may be meant for another program; a report takes it.
drawn_only := $(if $(or $(filter report,$(MAKECMDGOALS)),$(filter command,$(platform_given))),$(PLATFORM))
figures: all ## measure this machine if it has no recording, and draw its figures; PLATFORM=NAME, CONFIGS=auto,ring: only these; COLOURS: docs/tables.md
	@$(if $(filter-out local,$(drawn_only)),,bash mk/measure.sh '$(BUILD)/gradsync')
	@$(MAKE) --no-print-directory drawn ONLY='$(or $(drawn_only),own)'
	@bash mk/drawn.sh $(csv)/drawings '$(BUILD)/gradsync'
figures-all: all ## as figures, and draw every recording of this repository
	@bash mk/measure.sh '$(BUILD)/gradsync'
	@$(MAKE) --no-print-directory drawn ONLY=
	@bash mk/drawn.sh $(csv)/drawings '$(BUILD)/gradsync'
# What can be drawn is known when every recording was read: one that is damaged is named and left out,
# the rest is drawn, and that ends in an error, as for a figure that cannot be drawn. A paper or tables
# asked for by name stop at it instead.
drawn:
	@$(MAKE) --no-print-directory reduced
	@$(MAKE) --no-print-directory -k sound-drawn
tables: all ## read every recording, and write the tables into data/csv
	@$(MAKE) --no-print-directory sound-tables

raw := data/raw
csv := data/csv
# `make -n` shows what would be done, from the tables that are there: it makes and writes nothing.
dry := $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
# What others named becomes text of makefiles and commands: gradsync lists it, and refuses any name but
# of letters, digits, '.', '_' and '-'.
listed = $(call sound_list,$(shell '$(BUILD)/gradsync' help $1 2>&1))
sound_list = $(if $(filter-out 0,$(.SHELLSTATUS)),$(error $1),$1)
reads := $(if $(and $(dry),$(if $(wildcard $(BUILD)/gradsync),,not built)),,$(filter reduced sound-drawn sound-tables written,$(MAKECMDGOALS)))
runs := $(if $(reads),$(call listed,recordings))
configs := $(if $(reads),$(call listed,platforms))
reduced_tables := $(addprefix $(csv)/,samples.csv summary.csv iteration.csv metrics.csv launches.csv wan.csv compare.csv placebo.csv chosen.csv)
tables_of_all := $(reduced_tables) $(addprefix $(csv)/,again.csv chosen/again.csv transitions.csv limits.csv)

# Which recordings are drawn. ONLY: platforms, or `own`: measured here, not part of this repository.
cloned := $(if $(and $(reads),$(filter own,$(ONLY))),$(filter-out local/%,$(shell { cut -d/ -f3-5 data/SHA256SUMS; git ls-files data/raw | cut -d/ -f3-5; } 2>/dev/null | sort -u)))
of_only = $(if $(filter own,$(ONLY)),$(filter-out $(cloned),$1),$(if $(ONLY),$(filter $(ONLY:%=%/%),$1),$1))

# $(call remember,FILE,TEXT): FILE holds TEXT, and is written only when it did not.
remember = $(if $(dry),,$(if $(subst $(if $(wildcard $1),<$(strip $(file <$1))>),,<$(strip $2)>),$(shell mkdir -p $(dir $1))$(file >$1,$2)))

# Tables that were deleted or emptied since their stamp are made again; so are those that lack a damaged
# recording, which is then named again.
.PHONY: lost
lost:
lost := $(if $(reads),$(shell for table in $(tables_of_all); do [ -s $$table ] || echo lost; done; \
  [ ! -s $(csv)/damaged ] || $(if $(filter sound-drawn,$(MAKECMDGOALS)),true,echo lost)))

# $(call panels,P/W), $(call figure,SCRIPT,P/W,P/NAME)
define panels
$(csv)/panels/$1/stamp: $(csv)/stamp $(csv)/panels/$1/runs $(csv)/panels/known $(addprefix figures/,panels panels.sql steps.sql verdicts.sql)
	@mkdir -p $$(@D) && CONFIGS='$(CONFIGS)' bash figures/panels $(BUILD)/gradsync $(csv)/panels/$1 $1 $(csv) $(patsubst $1/%,%,$(filter $1/%,$(runs))) && touch $$@
$(csv)/panels/$1/figures.mk: $(csv)/panels/$1/stamp ;
$(csv)/panels/$1/%.plot: $(csv)/panels/$1/stamp ;
endef
define figure
drawings += $(addprefix figures/out/$3-$1,.svg .png .pdf)
$(addprefix figures/out/$3-$1,.svg .png .pdf) &: $(csv)/panels/$2/$(notdir $3).plot figures/$1.gp $(style)
	$$(call quiet,FIGURE,figures/out/$3-$1)figures/draw $1 $$< figures/out/$3-$1
endef
# $(call drawing,FOLDER/NAME,SCRIPT,TABLES,SQL…): one figure from tables; none from a panel with `n = 0`.
define drawing
drawings += $(addprefix figures/out/$1,.svg .png .pdf)
$(csv)/panels/$1.made: $3 $(addprefix figures/,panel $(4:%=%.sql))
	@mkdir -p $$(@D) && bash figures/panel $(BUILD)/gradsync $(csv)/panels/$1.plot '$3' $4 && touch $$@
$(csv)/panels/$1.plot: $(csv)/panels/$1.made
	@[ -e $$@ ] || bash figures/panel $(BUILD)/gradsync $$@ '$3' $4
$(addprefix figures/out/$1,.svg .png .pdf) &: $(csv)/panels/$1.plot figures/$2.gp $(style)
	$$(if $$(shell grep -sx 'n = 0' $$<),@rm -f $(addprefix figures/out/$1,.svg .png .pdf),$$(call quiet,FIGURE,figures/out/$1)figures/draw $2 $$< figures/out/$1)
endef
style := $(csv)/panels/colours figures/draw figures/formats.gp figures/style.gp figures/words.gp figures/legend.gp figures/curve.gp figures/bandwidth.gp figures/verdict.gp
drawings :=
longest :=

draws := $(filter sound-drawn written,$(MAKECMDGOALS))

reduced: $(csv)/stamp
# A run that begins after `reduced` has no tables yet, and is not damaged: the next call draws it.
ifeq ($(filter sound-drawn,$(MAKECMDGOALS)),)
$(if $(reads),$(call remember,$(csv)/runs,$(runs)))
else
runs := $(if $(wildcard $(csv)/runs),$(filter $(file <$(csv)/runs),$(runs)),$(runs))
endif
$(csv)/stamp: $(lost) $(library) $(BUILD)/runner/verbs/query.o $(BUILD)/runner/verbs/compare.o $(configs:%=configs/%.ini) $(foreach r,$(runs),$(wildcard $(raw)/$r/*.jsonl $(raw)/$r/*.json)) $(csv)/runs | $(BUILD)/gradsync
	$(call quiet,REDUCE,$(raw))mkdir -p $(csv) && rm -f $(csv)/damaged && $(if $(runs),\
	$(BUILD)/gradsync query -q --export $(csv) $(if $(filter reduced sound-drawn,$(MAKECMDGOALS)),--damaged $(csv)/damaged) && \
	$(BUILD)/gradsync compare -q --again $(csv)/compare.csv -o $(csv) && \
	$(BUILD)/gradsync compare -q --again $(csv)/chosen.csv -o $(csv)/chosen && )touch $@
$(reduced_tables) $(addprefix $(csv)/,transitions.csv limits.csv): $(csv)/stamp ;
queried := links price
$(queried:%=$(csv)/%.csv): $(csv)/%.csv: figures/%.sql $(csv)/stamp
	@$(BUILD)/gradsync query -q --format csv -- "$$(<$<)" >$@.new $(if $(damaged),2>/dev/null || true) && mv $@.new $@
sound-tables: $(csv)/stamp $(queried:%=$(csv)/%.csv)
damaged := $(if $(filter sound-drawn,$(MAKECMDGOALS)),$(if $(wildcard $(csv)/damaged),$(patsubst $(raw)/%,%,$(file <$(csv)/damaged))))
runs := $(filter-out $(damaged),$(runs))
shown := $(call of_only,$(runs))
# wan_sync has figures of its own (wan.mk).
pairs := $(filter-out %/wan_sync,$(sort $(foreach r,$(shown),$(patsubst %/,%,$(dir $r)))))
ifneq ($(dry),) # nothing was remembered
$(csv)/runs $(csv)/panels/known $(csv)/panels/configs $(csv)/panels/colours $(pairs:%=$(csv)/panels/%/runs): ;
endif
# A config of CONFIGS that no recording to be drawn has is an error before anything is drawn or deleted.
ifneq ($(draws),)
ifeq ($(dry),)
$(csv)/panels/known: $(csv)/panels/configs $(csv)/stamp figures/known
	@$(if $(CONFIGS),CONFIGS='$(CONFIGS)' bash figures/known $(BUILD)/gradsync $(csv)/summary.csv '$(shown)' &&) touch $@
endif
$(call remember,$(csv)/panels/configs,all $(CONFIGS))
$(call remember,$(csv)/panels/colours,all $(COLOURS))
$(foreach p,$(pairs),$(call remember,$(csv)/panels/$p/runs,$(filter $p/%,$(runs)))$(eval $(call panels,$p)))
ifeq ($(dry),)
include $(pairs:%=$(csv)/panels/%/figures.mk)
else # make would make what it includes
$(foreach p,$(pairs),$(eval $(file <$(csv)/panels/$p/figures.mk)))
endif
# The answer, for each platform with training steps.
step_levels := ,(synthetic|step|trial|training)(,|$$)
stepped := $(filter $(foreach r,$(shown),$(firstword $(subst /, ,$r))),$(shell grep -sE '$(step_levels)' $(csv)/compare.csv | cut -d, -f1 | sort -u))
$(foreach p,$(stepped),$(eval $(call drawing,$p/answer,answer,$(csv)/compare.csv $(csv)/chosen.csv,answer)))
# Figures of an SQL query on the store: figures/NAME.sql makes NAME.csv, which the paper's numbers read too.
$(if $(ONLY),,$(foreach q,$(queried),$(eval $(call drawing,method/$q,$q,$(csv)/$q.csv,))))
# What else is drawn is added to `drawings` by the makefiles that follow; what takes longest begins first.
.SECONDEXPANSION:
sound-drawn: $$(longest) sound-tables $$(drawings)
	@$(foreach r,$(filter-out $(patsubst $(raw)/%/MANIFEST.json,%,$(wildcard $(raw)/*/*/*/MANIFEST.json)),$(shown)),echo "unfinished: $(raw)/$r: only its measured cells are drawn; 'gradsync show $(raw)/$r' lists the missing ones" >&2;)true
	@$(if $(shown)$(damaged)$(filter own,$(ONLY)),,$(if $(ONLY),for p in $(ONLY); do '$(BUILD)/gradsync' show $$p || true; done; exit 1))
	@$(if $(drawings),,echo 'no recording to draw; measure with make run PLATFORM=…, or draw those of this repository with make figures-all' >&2)
	@$(call remember,$(csv)/drawings,$(drawings))drawings=" $$(<$(csv)/drawings) "; for file in $(if $(ONLY),$(patsubst %,figures/out/%/*,$(sort $(foreach p,$(pairs),$(firstword $(subst /, ,$p))))),figures/out/*/*); do \
	  [[ $$drawings == *" $$file "* ]] || rm -f "$$file"; done
	@$(if $(damaged),{ printf '%s: left out of tables and figures for the error above\n' $(damaged:%=$(raw)/%) >&2; false; })
endif
