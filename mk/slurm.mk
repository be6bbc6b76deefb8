# SPDX-License-Identifier: Apache-2.0
#
# Many configs, here or on a cluster (docs/clusters.md).

FROM ?=

##@ Many configs
.PHONY: submit campaign check-slurm
submit: all ## PLATFORM=NAME measure the platform of configs/NAME.ini in Slurm jobs
	@$(BUILD)/gradsync submit $(if $(FROM),'$(FROM)',$(config)) $(ARGS)
campaign: all ## FROM=FOLDER measure every config of a folder here, one after another
	@$(BUILD)/gradsync run '$(or $(FROM),$(error which folder of configs? FROM=FOLDER))' $(ARGS)
check-slurm: all ## run the tests that start a Slurm only
	@BUILD='$(BUILD)' bash tests/run tests/slurm/test_*.sh
