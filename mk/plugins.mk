# SPDX-License-Identifier: Apache-2.0
#
# Every plugins/NAME/NAME.c, with what lies beside it, becomes $(BUILD)/plugins/NAME.so, and its
# backends NAME/BACKEND.so; rules and the variables a plugin may set are in plugins/plugin.mk. Included
# by GNUmakefile after mk/settings.mk. Gives it
#   plugins            target: all that can be built here
#   plugin_so          their files
#   plugins_left_out   words NAME:NEED, for want of a library
#   plugin, install    targets

gs_in_tree := yes
gs_root := plugins
gs_out := $(BUILD)/plugins
gs_obj := $(BUILD)/plugins/.obj
gs_include := -Irunner
include plugins/plugin.mk

plugin_dirs := $(filter-out template,$(patsubst plugins/%/,%,$(wildcard plugins/*/)))
plugin_names := $(foreach d,$(plugin_dirs),$(if $(wildcard plugins/$d/$d.c),$d))
-include $(wildcard plugins/*/build.mk)
plugin_modules := $(foreach n,$(plugin_names),$n $(addprefix $n/,$(call gs_get,$n_backends)))
plugins_built := $(foreach m,$(plugin_modules),$(if $(call gs_missing,$m),,$m))
plugins_left_out := $(foreach m,$(plugin_modules),$(addprefix $m:,$(call gs_missing,$m)))
plugin_so := $(plugins_built:%=$(BUILD)/plugins/%.so)
$(foreach m,$(plugins_built),$(eval $(call gs_module,$m)))

plugins: $(plugin_so)

# A new plugin from the template, with its config and its test.
plugin:
	@mk/plugin-scaffold "$${NAME:-}"

gs_at = $(DESTDIR)$(PREFIX)
install: $(BUILD)/gradsync $(BUILD)/gradsync-rank plugins
	install -d "$(gs_at)/bin" "$(gs_at)/lib/gradsync/plugins" "$(gs_at)/lib/pkgconfig" \
	  "$(gs_at)/include/gradsync" "$(gs_at)/share/gradsync/configs" "$(gs_at)/share/gradsync/template"
	install -m 755 $(BUILD)/gradsync $(BUILD)/gradsync-rank "$(gs_at)/bin"
	for m in $(plugins_built); do \
	  install -D -m 755 "$(BUILD)/plugins/$$m.so" "$(gs_at)/lib/gradsync/plugins/$$m.so"; done
	install -m 644 runner/workload.h "$(gs_at)/include/gradsync"
	install -m 644 plugins/plugin.mk "$(gs_at)/share/gradsync"
	install -m 755 mk/plugin-scaffold "$(gs_at)/share/gradsync"
	install -m 644 plugins/template/* "$(gs_at)/share/gradsync/template"
	install -m 644 configs/*.ini "$(gs_at)/share/gradsync/configs"
	prefix='$(PREFIX)' version="$$(sed -n 's/^#define GRADSYNC_VERSION "\(.*\)"/\1/p' runner/version.h)"; \
	  sed -e "s|@PREFIX@|$$prefix|" -e "s|@VERSION@|$$version|" gradsync.pc.in \
	  > "$(gs_at)/lib/pkgconfig/gradsync.pc"

.PHONY: plugins plugin install
