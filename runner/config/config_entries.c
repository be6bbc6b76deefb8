/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_entries.h"

#include "base/err.h"
#include "base/text.h"
#include "config/settings_tables.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct config *config_share(struct config *c)
{
    c->owners++;
    return c;
}

void config_free(struct config *c)
{
    if (!c || --c->owners)
        return;
    for (size_t i = 0; i < c->n; i++) {
        free(c->entries[i].section);
        free(c->entries[i].key);
        free(c->entries[i].value);
    }
    for (size_t i = 0; i < c->n_sections; i++)
        free(c->sections[i].name);
    for (size_t i = 0; c->overrides[i]; i++)
        free(c->overrides[i]);
    free(c->entries);
    free(c->sections);
    free(c->overrides);
    free(c->text);
    free(c->path);
    free(c);
}

const struct config_entry *config_find(const struct config *c, const char *section, const char *key)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->entries[i].key, key) && !strcmp(c->entries[i].section, section))
            return &c->entries[i];
    return NULL;
}

const char *config_source(const struct config *c, const char *section, const char *key)
{
    AUTO_FREE char *name = xstrfmt("%s.source", key);
    const struct config_entry *e = config_find(c, section, name);
    if (!e)
        e = config_find(c, section, "source");
    return e ? e->value : "";
}

const struct config_section *config_section(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_sections; i++)
        if (!strcmp(c->sections[i].name, name))
            return &c->sections[i];
    return NULL;
}

const char *config_workload(const struct config *c, size_t i)
{
    for (size_t k = 0; k < c->n_sections; k++)
        if (!settings_section_find(c->sections[k].name) && i-- == 0)
            return c->sections[k].name;
    return NULL;
}

int config_error(const struct config_entry *e, const char *fmt, ...)
{
    char text[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return fail_at(GS_USAGE, e->file, e->line, "key '%s': %s", e->key, text);
}

void config_add_section(struct config *c, const char *name, int line)
{
    APPEND(c->sections, c->n_sections) = (struct config_section){xstrdup(name), line};
}

void config_add_entry(struct config *c, const char *section, const char *key, const char *value,
                      const char *file, int line)
{
    APPEND(c->entries, c->n) = (struct config_entry){.section = xstrdup(section),
                                                     .key = xstrdup(key),
                                                     .value = xstrdup(value),
                                                     .file = file,
                                                     .line = line};
}
