# SPDX-License-Identifier: Apache-2.0
#
# One HTML page of what the recordings say, to be shared (gradsync report).

nothing :=
# One word of a shell, whatever it holds.
sh_word = '$(subst ','\'',$1)'
comma := ,
report_page := figures/out/report$(subst $(nothing) -,-,$(PLATFORM:%=-%)).html

# A mistyped name is told before minutes of drawing. `figures` draws all platforms, and a PLATFORM of
# the environment may be meant for another program.
ifneq ($(filter report $(if $(filter command,$(platform_given)),figures),$(MAKECMDGOALS)),)
platforms := $(sort $(patsubst configs/%.ini,%,$(wildcard configs/*.ini)) $(patsubst data/raw/%/,%,$(wildcard data/raw/*/)))
$(foreach p,$(filter-out $(platforms),$(PLATFORM)), \
	$(foreach near,$(or $(shell LC_ALL=C awk -v word=$(call sh_word,$p) -v names=$(call sh_word,$(platforms)) -f mk/nearest.awk </dev/null),-), \
		$(error no platform '$p'$(if $(filter-out -,$(near)),$(comma) did you mean '$(near)'?,: neither configs/$p.ini nor data/raw/$p is here))))
endif

##@ Figures and paper
.PHONY: report readme docs
report: $(if $(PLATFORM),figures,figures-all) ## PLATFORM=NAME write one HTML page: figures, tables, verdicts, machine
	@$(BUILD)/gradsync report -o $(report_page) $(or $(PLATFORM),--all)
# The pictures and the numbers of the documents, when there are new recordings.
readme_figure := h200-4gpu/iter_proxy-size-16MiB-gemms-1-ranks
readme: figures-all ## renew the pictures in docs, and the output of the commands in README.md and docs
	@cp figures/out/$(readme_figure).svg docs/answer.svg
	@cp figures/out/method/links.svg figures/out/method/price.svg docs
	@for d in README.md docs/*.md; do bash mk/readme.sh $$d >$$d.new && mv $$d.new $$d || exit 1; done
docs: all ## renew the lists of docs/tables.md
	@bash mk/docs.sh $(BUILD)/gradsync docs/tables.md >docs/tables.md.new && mv docs/tables.md.new docs/tables.md
