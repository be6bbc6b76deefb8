# SPDX-License-Identifier: Apache-2.0
#
# From recordings to figures. Each line is one rule:
#   data/raw           gradsync query --export   data/gradsync.db and data/csv/*.csv
#   data/gradsync.db   figures/draw NAME …       figures/out/FOLDER/FIGURE.{svg,png,pdf}
# figures/draw asks the query figures/NAME.sql what there is to draw; its data, and the list of its
# figures, are in data/csv/drawn/NAME. A stamp says when a rule last ran. What a rule makes is touched only
# when its content changes, so nothing is drawn again from an unchanged result.

##@ Figures and paper
.PHONY: figures figures-all tables drawn sound-tables sound-drawn
# A PLATFORM of the environment may be meant for another program; a report takes it.
drawn_only := $(if $(or $(filter report,$(MAKECMDGOALS)),$(filter command,$(platform_given))),$(PLATFORM))
figures: all ## measure this machine if it has no recording, and draw its figures; PLATFORM=NAME, CONFIGS=auto,ring: only these; COLOURS: docs/tables.md
	@$(if $(filter-out local,$(drawn_only)),,bash mk/measure.sh '$(BUILD)/gradsync')
	@$(MAKE) --no-print-directory drawn ONLY='$(or $(drawn_only),own)'
	@bash mk/drawn.sh $(drawn)/list '$(BUILD)/gradsync'
figures-all: all ## as figures, and draw every recording of this repository
	@bash mk/measure.sh '$(BUILD)/gradsync'
	@$(MAKE) --no-print-directory drawn ONLY=
	@bash mk/drawn.sh $(drawn)/list '$(BUILD)/gradsync'
# A recording that is damaged is named and left out, the rest is drawn, and that ends in an error, as for
# a figure that cannot be drawn. A paper or tables asked for by name stop at it instead.
drawn:
	@$(MAKE) --no-print-directory -k sound-drawn
tables: all ## read every recording, and write the tables into data/csv
	@$(MAKE) --no-print-directory sound-tables

raw := data/raw
csv := data/csv
drawn := $(csv)/drawn
# What others named becomes text of makefiles and commands: gradsync lists it, and refuses any name but
# of letters, digits, '.', '_' and '-'.
listed = $(call sound_list,$(shell '$(BUILD)/gradsync' help $1 2>&1))
sound_list = $(if $(filter-out 0,$(.SHELLSTATUS)),$(error $1),$1)
draws := $(filter sound-drawn written,$(MAKECMDGOALS))
# `make -n` before the first build has no program to ask.
reads := $(if $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),$(wildcard $(BUILD)/gradsync),yes)
reads := $(if $(reads),$(draws)$(filter sound-tables,$(MAKECMDGOALS)))
runs := $(if $(reads),$(call listed,recordings))
platforms := $(if $(reads),$(call listed,platforms))
# Which recordings are drawn. ONLY: platforms, or `own`: measured here, not part of this repository. Jobs of `tune` that
# are not part of it are drawn if their platform is asked for: most are tried once.
asked := $(filter-out own,$(ONLY))
cloned := $(if $(and $(reads),$(if $(asked),,yes)),$(filter-out local/%,$(shell { cut -d/ -f3-5 data/SHA256SUMS; git ls-files data/raw | cut -d/ -f3-5; } 2>/dev/null | sort -u)))
of_jobs := $(foreach w,trial train,$(foreach r,$(runs),$(if $(filter $w,$(word 2,$(subst /, ,$r))),$r)))
shown := $(if $(asked),$(filter $(asked:%=%/%),$(runs)),$(filter-out $(filter-out $(cloned),$(of_jobs)) $(if $(ONLY),$(cloned)),$(runs)))
# wan_sync has figures of its own (wan.mk).
pairs := $(filter-out %/wan_sync,$(sort $(foreach r,$(shown),$(patsubst %/,%,$(dir $r)))))

# ---- tables

tables_of_all := $(addprefix $(csv)/,samples.csv summary.csv iteration.csv metrics.csv launches.csv wan.csv \
	compare.csv placebo.csv chosen.csv again.csv transitions.csv limits.csv)
# They are made again if one was deleted or emptied, or if they lack a damaged recording.
.PHONY: lost
lost:
lost := $(if $(reads),$(shell for table in $(tables_of_all); do [ -s $$table ] || echo lost; done; [ ! -s $(csv)/damaged ] || echo lost))

# Files that are written only when their text is another one.
colours := $(COLOURS)
configs := $(CONFIGS)
$(drawn)/colours $(drawn)/configs: FORCE
	@mkdir -p $(@D) && { echo '$($(@F))' | cmp -s - $@ || echo '$($(@F))' >$@; }
$(csv)/runs: FORCE | $(BUILD)/gradsync
	@mkdir -p $(@D) && $(BUILD)/gradsync help recordings >$@.new && if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(csv)/stamp: $(lost) $(library) $(BUILD)/runner/verbs/query.o $(platforms:%=configs/%.ini) $(foreach r,$(runs),$(wildcard $(raw)/$r/*.jsonl $(raw)/$r/*.json)) $(csv)/runs | $(BUILD)/gradsync
	$(call quiet,REDUCE,$(raw))rm -f $(csv)/damaged && $(if $(runs),\
	$(BUILD)/gradsync query -q --export $(csv) $(if $(filter sound-drawn,$(MAKECMDGOALS)),--damaged $(csv)/damaged) && )touch $@
$(tables_of_all): $(csv)/stamp ;
# Queries whose rows are figures, and tables of the paper's numbers.
queried := links price
$(queried:%=$(csv)/%.csv): $(csv)/%.csv: figures/%.sql $(csv)/stamp
	@$(BUILD)/gradsync query -q --stored --format csv -- "$$(<$<)" >$@.new && mv $@.new $@
sound-tables: $(csv)/stamp $(queried:%=$(csv)/%.csv)

# ---- figures

# NAME/PLATFORM/WORKLOAD, NAME/PLATFORM or NAME: what figures/draw is asked for. The makefiles that follow
# add to it.
drawings := $(pairs:%=panels/%) $(addprefix answer/,$(sort $(foreach p,$(pairs),$(firstword $(subst /, ,$p)))))
drawings += $(if $(ONLY),,$(queried))
$(drawn)/%/stamp: $(csv)/stamp $(drawn)/configs $(drawn)/colours $(wildcard figures/*.sql figures/*.gp) figures/draw figures/plot | $(if $(CONFIGS),known)
	@MAY_BE_EMPTY=yes CONFIGS='$(CONFIGS)' COLOURS='$(COLOURS)' GRADSYNC='$(BUILD)/gradsync' figures/draw $(subst /, ,$*) && touch $@
# One that was deleted is drawn again.
$(if $(draws),$(shell bash mk/drawn.sh --lost $(drawn))): FORCE
# A config of CONFIGS that no recording to be drawn has is an error before anything is drawn or deleted.
.PHONY: known
known: $(csv)/stamp
	@bash figures/known '$(BUILD)/gradsync' '$(CONFIGS)' '$(shown)'

.SECONDEXPANSION:
stamps = $(drawings:%=$(drawn)/%/stamp)
sound-drawn: sound-tables $$(stamps)
	@$(foreach r,$(filter-out $(patsubst $(raw)/%/MANIFEST.json,%,$(wildcard $(raw)/*/*/*/MANIFEST.json)),$(shown)),grep -qsxF $(raw)/$r $(csv)/damaged || echo "unfinished: $(raw)/$r: only its measured cells are drawn; 'gradsync show $(raw)/$r' lists the missing ones" >&2;)true
	@$(if $(shown)$(filter own,$(ONLY)),,$(if $(ONLY),for p in $(ONLY); do '$(BUILD)/gradsync' show $$p || true; done; exit 1))
	@bash mk/drawn.sh --clean $(drawn) '$(ONLY)' $(drawings)
	@[ ! -s $(csv)/damaged ] || { sed 's/$$/: left out of tables and figures for the error above/' $(csv)/damaged >&2; false; }
