# SPDX-License-Identifier: Apache-2.0

##@ Install and clean
.PHONY: install plugin clean
install: ## PREFIX=DIR install programs, plugins, configs, workload.h and plugin.mk
clean: ## remove programs, tables and figures; recordings stay
	@rm -rf '$(BUILD)' data/csv figures/out

##@ Extend
plugin: ## NAME=foo create a workload plugin with its config and its test
