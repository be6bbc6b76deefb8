# SPDX-License-Identifier: Apache-2.0
#
# Many configs, here or on a cluster (docs/clusters.md).

FROM ?=

##@ Many configs
.PHONY: submit check-slurm
submit: all ## PLATFORM=NAME measure the platform of configs/NAME.ini in Slurm jobs
	@$(BUILD)/gradsync submit $(if $(FROM),'$(FROM)'/*.ini,$(config)) $(ARGS)
check-slurm: all ## run the tests that start a Slurm only
	@BUILD='$(BUILD)' bash tests/run tests/slurm/test_*.sh
