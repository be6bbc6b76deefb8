# SPDX-License-Identifier: Apache-2.0
#
# Many configs, here or on a cluster (docs/clusters.md).

FROM ?=

##@ To measure much
.PHONY: submit campaign setup-slurm check-slurm
submit: all ## PLATFORM=NAME measure it in Slurm jobs: configs/NAME.ini, [slurm]
	@$(BUILD)/gradsync submit $(if $(FROM),'$(FROM)',$(config)) $(ARGS)
campaign: all ## FROM=FOLDER measure every config of a folder here, one after another
	@$(BUILD)/gradsync run '$(or $(FROM),$(error which folder of configs? FROM=FOLDER))' $(ARGS)
setup-slurm: # what check-slurm starts Slurm with
	@bash mk/setup.sh slurm
check-slurm: all ## what jobs come to in a real Slurm that the tests start
	@BUILD='$(BUILD)' JOBS=1 bash tests/run tests/slurm/test_*.sh
