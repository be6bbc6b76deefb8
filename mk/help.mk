# SPDX-License-Identifier: Apache-2.0
#
# `make` alone: the targets, from the "target: ## text" lines and "##@ Group" headings of all
# makefiles, and what was found on this machine.

##@ Begin
.PHONY: help setup setup-figures setup-check setup-paper setup-slurm setup-report
help: ## print this text
	@awk -f mk/help.awk $(MAKEFILE_LIST)
	@echo
	@CC='$(CC)' MPICC='$(MPICC)' CUDA_HOME='$(CUDA_HOME)' NCCL_HOME='$(NCCL_HOME)' bash mk/found.sh

setup: ## install the system packages that `all` and `tune` need (Debian, Ubuntu; a list elsewhere)
	@bash mk/setup.sh
setup-figures setup-check: # what `figures` and `check` need in addition, which they also install themselves
setup-paper: ## install LaTeX, which `paper` needs
setup-slurm: ## install the Slurm that tests start; without it they are skipped
setup-report: ## install the browser that the test of the report uses
setup-figures setup-check setup-paper setup-slurm setup-report:
	@bash mk/setup.sh $(@:setup-%=%)

# A goal that nobody makes is most often a typo. (GNU make 4.3 does not export LC_ALL to $(shell), and
# some languages do not have all of a-z between a and z.)
goals := $(foreach g,$(MAKECMDGOALS),$(if $(findstring /,$g)$(findstring .,$g),,$g))
ifneq ($(goals),)
targets := $(shell LC_ALL=C sed -n 's/^\([a-z][a-z -]*\):.*/\1/p' mk/*.mk)
$(filter-out $(targets) FORCE,$(goals)):
	@nearest=$$(awk -v word='$@' -f mk/nearest.awk mk/*.mk); \
	echo "make: no target '$@'$${nearest:+, did you mean '$$nearest'?}; 'make' lists them" >&2; exit 2
endif

# So is a variable whose name is a letter beside one that may be set; FFLAGS is every packager's.
said := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v))
$(foreach v,$(filter-out FFLAGS,$(said)), \
	$(foreach near,$(shell LC_ALL=C awk -v word='$(subst ','\'',$v)' -v variable=1 -f mk/nearest.awk mk/*.mk), \
		$(error no variable '$v', did you mean '$(near)'?)))
