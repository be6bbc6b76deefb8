# SPDX-License-Identifier: Apache-2.0
#
# Many configs, here or on a cluster (docs/clusters.md).

FROM ?=

##@ Many configs
.PHONY: submit campaign setup-slurm check-slurm
submit: all ## PLATFORM=NAME measure the platform of configs/NAME.ini in Slurm jobs
	@$(BUILD)/gradsync submit $(if $(FROM),'$(FROM)',$(config)) $(ARGS)
campaign: all ## FROM=FOLDER measure every config of a folder here, one after another
	@$(BUILD)/gradsync run '$(or $(FROM),$(error which folder of configs? FROM=FOLDER))' $(ARGS)
setup-slurm: # what check starts a Slurm of its own with; without it those tests are skipped
	@bash mk/setup.sh slurm
check-slurm: all # of check, what starts a Slurm
	@BUILD='$(BUILD)' bash tests/run tests/slurm/test_*.sh
