# SPDX-License-Identifier: Apache-2.0
#
# One HTML page of what the recordings say, to be shared (gradsync report).

report_page := figures/out/report$(PLATFORM:%=-%).html

##@ To see it
.PHONY: report setup-report readme
report: figures ## PLATFORM=NAME one HTML page: figures, tables, verdicts, machine
	@$(BUILD)/gradsync report -o $(report_page) $(PLATFORM)
setup-report: # the browser that the test of the page looks at it with
	@bash mk/setup.sh report
# The picture and the numbers of README.md, when there are new recordings.
readme_figure := h200-4gpu/iter_proxy-size-16MiB-gemms-1-ranks
readme: figures # writes docs/answer.svg and what the commands of README.md print
	@cp figures/out/$(readme_figure).svg docs/answer.svg
	@bash mk/readme.sh README.md >README.md.new && mv README.md.new README.md
