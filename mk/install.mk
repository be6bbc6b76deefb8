# SPDX-License-Identifier: Apache-2.0

##@ Install and clean
.PHONY: install uninstall plugin clean
install: ## PREFIX=DIR install programs, plugins, configs, workload.h and plugin.mk
uninstall: ## PREFIX=DIR remove what `install` put there
	@bash mk/install.sh --remove '$(DESTDIR)' '$(PREFIX)'
clean: ## remove programs, tables and figures; recordings stay
	@rm -rf '$(BUILD)' data/csv figures/out

##@ Extend
plugin: ## NAME=foo create a workload plugin with its config and its test
