# SPDX-License-Identifier: Apache-2.0
#
# One HTML page of what the recordings say, to be shared (gradsync report).

report_page := figures/out/report$(PLATFORM:%=-%).html

##@ To see it
.PHONY: report setup-report
report: figures ## PLATFORM=NAME one HTML page: figures, tables, verdicts, machine
	@$(BUILD)/gradsync report -o $(report_page) $(PLATFORM)
setup-report: # the browser that the test of the page looks at it with
	@bash mk/setup.sh report
