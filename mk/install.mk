# SPDX-License-Identifier: Apache-2.0

##@ To keep house
.PHONY: install plugin clean
install: ## PREFIX=DIR the programs, plugins, configs, workload.h, plugin.mk
clean: ## remove what was built, reduced and drawn; recordings stay
	@rm -rf '$(BUILD)' data/csv figures/out

##@ To extend it
plugin: ## NAME=foo a new workload plugin, with its config and its test
