# SPDX-License-Identifier: Apache-2.0
#
# Tests, all of them through prove.

unit_src := $(wildcard tests/unit/test_*.c)
unit_bin := $(unit_src:tests/unit/%.c=$(BUILD)/tests/%)
unit_lib := $(filter-out $(unit_src),$(wildcard tests/unit/*.c))

##@ To trust it
.PHONY: check unit
check: ## the tests
check: all $(unit_bin)
	@BUILD='$(BUILD)' bash tests/run
unit: $(unit_bin)
	@BUILD='$(BUILD)' bash tests/run $^

$(BUILD)/tests/%: tests/unit/%.c $(unit_lib) $(commit) $(library)
	$(call quiet,TEST,$<)mkdir -p $(@D) && $(CC) $(compile) $(LDFLAGS) -rdynamic -o $@ $(filter %.c %.o %.a,$^) $(LIBS) -lpthread -lcmocka
-include $(unit_bin:=.d)
