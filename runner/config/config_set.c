/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_set.h"

#include "base/err.h"
#include "base/secrets.h"
#include "base/text.h"
#include "config/config_scan.h"
#include "config/settings_tables.h"

#include <stdlib.h>
#include <string.h>

static int unknown_section(const struct config *c, const char *name)
{
    const char *names[64];
    size_t n = 0;
    for (const struct settings_section *s = settings_sections; s->name; s++)
        names[n++] = s->name;
    for (size_t i = 0; i < c->n_sections && n < 64; i++)
        names[n++] = c->sections[i].name;
    const char *near = text_nearest(name, names, n);
    return fail(GS_USAGE, "--set: %s has no section [%s]%s", c->path, name,
                DID_YOU_MEAN_SECTION(near));
}

static int set(struct config *c, const char *section, const char *key, const char *value)
{
    /* A fixed section may be absent from the file; a workload that is would be a typo. */
    if (!settings_section_find(section) && !config_section(c, section))
        return unknown_section(c, section);
    if (!config_section(c, section))
        config_add_section(c, section, 0);
    struct config_entry *e = (struct config_entry *)config_find(c, section, key);
    if (!e) {
        config_add_entry(c, section, key, value, "--set", 0);
        return GS_OK;
    }
    free(e->value);
    e->value = xstrdup(value);
    e->file = "--set";
    e->line = 0;
    e->cut = false;
    return GS_OK;
}

static int apply(struct config *c, const char *override)
{
    AUTO_FREE char *section = xstrdup(override);
    char *equals = strchr(section, '='), *colon = strchr(section, ':');
    if (!equals || !colon || colon > equals)
        return fail(GS_USAGE, "--set '%s' is not SECTION:KEY=VALUE, e.g. measure:launches=3",
                    override);
    *colon = *equals = '\0';
    if (!scan_section_name(section) || !scan_key_name(section, colon + 1))
        return fail(GS_USAGE, "--set '%s': the name of the section or key is not valid", override);
    if (!scan_is_value(equals + 1))
        return fail(GS_USAGE,
                    "--set %s:%s: the value is not UTF-8 text or contains control characters",
                    section, colon + 1);
    return set(c, section, colon + 1, equals + 1);
}

int config_set_all(struct config *c, const char *const *overrides)
{
    int code = GS_OK;
    size_t n = 0;
    while (overrides && overrides[n])
        n++;
    c->overrides = xcalloc(n + 1, sizeof *c->overrides);
    for (size_t i = 0; i < n; i++) {
        c->overrides[i] = secrets_hidden(overrides[i]);
        if (apply(c, overrides[i]))
            code = GS_USAGE;
    }
    return code;
}
