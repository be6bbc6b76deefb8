# SPDX-License-Identifier: Apache-2.0
#
# The paper: its numbers from the recordings (paper/numbers.sql), its figures from the drawings, and the
# text from both. The same recordings give the same bytes: the time that TeX is told is that of the
# latest recording.

##@ Figures and paper
.PHONY: paper written
paper: all ## write paper/paper.pdf; every number comes from the recordings (make setup-paper installs LaTeX)
	@bash mk/latex.sh --found
	@$(MAKE) --no-print-directory written

ifneq ($(filter written,$(MAKECMDGOALS)),)

written_in := $(BUILD)/paper
paper_figures := links price

paper_tables := $(csv)/stamp $(csv)/error_rates.csv $(queried:%=$(csv)/%.csv) $(csv)/wan/needed.csv $(wan_plans:%=$(csv)/wan/%.csv) $(wan_errors)

$(written_in)/macros.tex: paper/numbers.sh $(wildcard paper/*.sql) figures/price.sql figures/links.sql paper/in_job.sql $(paper_tables) $(BUILD)/gradsync | $(written_in)/
	$(call quiet,NUMBERS,$@)bash paper/numbers.sh '$(BUILD)/gradsync' $(csv) >$@.new && mv $@.new $@
$(written_in)/figures.tex: $(paper_figures:%=$(drawn)/%/stamp) mk/paper.mk | $(written_in)/
	@for f in $(paper_figures); do pdf=figures/out/method/$$f.pdf; [ ! -e $$pdf ] || printf '%s' "\expandafter\def\csname gs@figure@$$f\endcsname{$$pdf}"; done >$@

paper/paper.pdf: paper/%.pdf: paper/%.tex paper/style.tex paper/refs.bib paper/typed.awk mk/latex.sh $(written_in)/macros.tex $(written_in)/figures.tex
	@awk -f paper/typed.awk $< >&2
	$(call quiet,LATEX,$@)bash mk/latex.sh $< $(written_in) $(lastword $(sort $(notdir $(runs)))) && cp $(written_in)/$(@F) $@
written: paper/paper.pdf
endif
