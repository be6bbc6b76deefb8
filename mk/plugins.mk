# SPDX-License-Identifier: Apache-2.0
#
# Every plugins/NAME/NAME.c, with what lies beside it, becomes $(BUILD)/plugins/NAME.so, and its
# backends NAME/BACKEND.so; rules and the variables a plugin may set are in plugins/plugin.mk. Included
# by GNUmakefile after mk/settings.mk. Gives it
#   plugins            target: all that can be built here
#   plugin_so          their files
#   plugins_left_out   words NAME:NEED, for want of a library
#   test_plugin        the file of the tests' own plugin
#   plugin, install    targets

gs_in_tree := yes
gs_root := plugins
gs_out := $(BUILD)/plugins
gs_obj := $(BUILD)/plugins/.obj
gs_include := -Irunner -Iplugins
gs_options := $(BUILD)/options
include plugins/plugin.mk

plugin_dirs := $(filter-out template,$(patsubst plugins/%/,%,$(wildcard plugins/*/)))
plugin_names := $(foreach d,$(plugin_dirs),$(if $(wildcard plugins/$d/$d.c),$d))
-include $(wildcard plugins/*/build.mk)
plugin_modules := $(foreach n,$(plugin_names),$n $(addprefix $n/,$(call gs_get,$n_backends)))
plugins_built := $(foreach m,$(plugin_modules),$(if $(call gs_missing,$m),,$m))
plugins_left_out := $(foreach m,$(plugin_modules),$(addprefix $m:,$(call gs_missing,$m)))
plugin_so := $(plugins_built:%=$(BUILD)/plugins/%.so)
$(foreach m,$(plugins_built),$(eval $(call gs_module,$m)))

# The tests' own plugin. `make all` builds it too, so that a single test runs after it.
gs_root := tests
gs_out := $(BUILD)/tests/plugins
gs_obj := $(gs_out)/.obj
null_extra := plugins/common/rng.c
test_plugin := $(gs_out)/null.so
$(eval $(call gs_module,null))
all: $(test_plugin)

plugins: $(plugin_so)

# A new plugin from the template, with its config and its test.
plugin:
	@mk/plugin-scaffold "$${NAME:-}"

install: $(BUILD)/gradsync $(BUILD)/gradsync-rank $(BUILD)/gradsync.1 plugins
	@bash mk/install.sh '$(BUILD)' '$(DESTDIR)' '$(PREFIX)' $(plugins_built)

.PHONY: plugins plugin install
