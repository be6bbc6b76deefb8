# SPDX-License-Identifier: Apache-2.0
#
# What can be had without root and a compiler: a Python wheel, and the same as a tarball that may be unpacked
# anywhere. Both hold the program with its libraries inside (STATIC), and the engine; not what needs MPI, NCCL or CUDA to be
# built: gradsync-rank and the plugins, which `run` and `submit` need.

.PHONY: wheel dist
wheel: ## build a wheel for `pip install`: gradsync without MPI, root and a compiler
dist: ## the same as a tarball
wheel dist:
	@$(MAKE) --no-print-directory BUILD='$(BUILD)/portable' STATIC=1 CFLAGS='$(CFLAGS) -ffunction-sections -fdata-sections' \
	  LDFLAGS='$(LDFLAGS) -Wl,--gc-sections' portable-$@ OUT='$(BUILD)'
OUT ?=
portable := $(BUILD)/gradsync $(BUILD)/libgradsync-engine.so $(BUILD)/libgradsync-audit.so $(BUILD)/gradsync.1
.PHONY: portable-wheel portable-dist
portable-wheel portable-dist: $(portable)
	@python3 mk/wheel.py $(@:portable-%=%) '$(BUILD)' '$(OUT)'
