/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "base/err.h"
#include "base/files.h"
#include "base/locate.h"
#include "base/printable.h"
#include "base/secrets.h"
#include "base/text.h"
#include "config/config_scan.h"
#include "config/config_set.h"
#include "config/params.h"
#include "config/settings_tables.h"

#include <errno.h>
#include <iniparser/iniparser.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONFIG_BYTES_MAX (256 * 1024)

/* ---- iniparser ---- */

__attribute__((format(printf, 1, 2))) static int no_message(const char *fmt, ...)
{
    (void)fmt;
    return 0;
}

/* iniparser reads files by name only. Giving it a copy in memory lets a config come from a pipe,
 * and makes sure that what is parsed is what is recorded. NULL: refused. */
static dictionary *parse_copy(const char *text, size_t n)
{
    dictionary *d = NULL;
    int fd = memfd_create("config", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, text, n) == (ssize_t)n) {
        char name[40];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        iniparser_set_error_callback(no_message); /* the scan has said it, with the line */
        d = iniparser_load(name);
    }
    if (fd >= 0)
        close(fd);
    return d;
}

static size_t count_keys(const dictionary *d)
{
    size_t n = 0;
    for (ssize_t i = 0; i < d->size; i++)
        n += d->key[i] && strchr(d->key[i], ':');
    return n;
}

/* Do the scan and iniparser read the same keys and values? */
static int agree(const struct config *c, const dictionary *d)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        AUTO_FREE char *name = xstrfmt("%s:%s", e->section, e->key);
        const char *value = iniparser_getstring(d, name, NULL);
        if (!value || strcmp(value, e->value))
            code = config_error(e, "ambiguous, '%.80s' or '%.80s'; quote the value", e->value,
                                value ? value : "");
    }
    if (!code && count_keys(d) != c->n)
        code = fail_at(GS_USAGE, c->path, 0, "a line is ambiguous; quote the values");
    return code;
}

/* ---- names ---- */

/* The table that knows `key`, other than `not_this`. */
static const struct settings_section *home_of(const char *key, const struct settings_section * not )
{
    for (const struct settings_section *s = settings_sections; s->name; s++)
        if (s != not &&s->table && params_find(s->table, key))
            return s;
    return NULL;
}

static int unknown_key(const struct config_entry *e, const struct settings_section *s)
{
    const char *near = params_nearest(s->table, e->key);
    const struct settings_section *home = home_of(e->key, s);
    if (home)
        return config_error(e, "unknown in [%s]: move it to [%s]", e->section, home->name);
    if (near)
        return config_error(e, "unknown in [%s]%s", e->section, DID_YOU_MEAN(near));
    AUTO_TEXT struct text all = {0};
    for (const struct wl_param *p = s->table; p->name; p++)
        text_addf(&all, "%s%s", p == s->table ? "" : ", ", p->name);
    if (!strcmp(e->section, "slurm"))
        return config_error(e, "unknown in [slurm] (%s); for another option of sbatch: sbatch.%s",
                            all.s, e->key);
    return config_error(e, "unknown in [%s] (%s)", e->section, all.s);
}

static int check_keys(const struct config *c)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        const struct settings_section *s = settings_section_find(e->section);
        if (!s || !s->table || params_find(s->table, e->key))
            continue;
        size_t n = s->free_prefix ? strlen(s->free_prefix) : 0;
        if (!n || strncmp(e->key, s->free_prefix, n) || !e->key[n])
            code = unknown_key(e, s);
    }
    return code;
}

/* Any other section is a workload's, and its plugin may be anywhere: a misspelt fixed section is
 * told from it by its keys. */
static int check_section(const struct config *c, const struct config_section *s)
{
    const struct settings_section *fixed = settings_section_find(s->name);
    if (fixed)
        return GS_OK;
    /* Read until version 0.2; ignored, it would change what is modelled. */
    if (!strcmp(s->name, "link") || !strncmp(s->name, "link ", strlen("link ")))
        return fail_at(GS_USAGE, c->path, s->line,
                       "[%s] is not read; write the link in [links]: A-B = rate=… rtt=…", s->name);
    const char *names[32];
    size_t n = 0;
    for (const struct settings_section *t = settings_sections; t->name; t++)
        names[n++] = t->name;
    const char *near = text_nearest(s->name, names, n);
    const struct settings_section *meant = near ? settings_section_find(near) : NULL;
    for (size_t i = 0; meant && meant->table && i < c->n; i++)
        if (!strcmp(c->entries[i].section, s->name) && params_find(meant->table, c->entries[i].key))
            return fail_at(GS_USAGE, c->path, s->line, "unknown section [%s]%s", s->name,
                           DID_YOU_MEAN_SECTION(near));
    return GS_OK;
}

static int check_sections(const struct config *c)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n_sections; i++)
        if (check_section(c, &c->sections[i]))
            code = GS_USAGE;
    return code;
}

/* ---- loading ---- */

/* Comments too: a recording holds the whole text, and readers refuse one that is not printable. */
static int check_printable(const struct config *c)
{
    int number = 1;
    for (const char *s = c->text; *s; number++) {
        size_t n = strcspn(s, "\n");
        AUTO_FREE char *line = xstrfmt("%.*s", (int)n, s);
        if (!printable(line, "\t\r"))
            return fail_at(GS_USAGE, c->path, number,
                           "is not UTF-8 text or contains control characters");
        s += n + (s[n] == '\n');
    }
    return GS_OK;
}

static int parse(struct config *c, size_t n)
{
    if (strlen(c->text) != n)
        return fail_at(GS_USAGE, c->path, 0, "contains NUL bytes: this is not a config");
    int code = scan_ini(c);
    if (!code)
        code = check_printable(c);
    if (code)
        return code;
    dictionary *d = parse_copy(c->text, n);
    if (!d)
        return fail_at(GS_USAGE, c->path, 0, "iniparser cannot read it");
    code = agree(c, d);
    iniparser_freedict(d);
    return code;
}

int config_from_text(struct config **out, const char *path, const char *text, size_t n,
                     const char *const *overrides)
{
    struct config *c = *out = xcalloc(1, sizeof *c);
    c->owners = 1;
    c->path = xstrdup(path);
    c->text = xmalloc(n + 1);
    memcpy(c->text, text, n);
    c->text[n] = '\0';
    int parsed = parse(c, n);
    AUTO_FREE char *whole = c->text;
    c->text = secrets_hidden(whole); /* what is recorded; the entries hold the values */
    int set_code = config_set_all(c, overrides);
    int sections = check_sections(c);
    int keys = check_keys(c);
    return parsed || set_code || sections || keys ? GS_USAGE : GS_OK;
}

/* The file's bytes, no more than a config can have. */
static int read_bytes(const char *path, struct text *out)
{
    if (files_read(path, FILES_GIVEN, CONFIG_BYTES_MAX, out))
        return GS_OK;
    if (errno == EFBIG)
        return fail_at(GS_USAGE, path, 0, "more than %d KiB: this is not a config",
                       CONFIG_BYTES_MAX / 1024);
    if (errno == EISDIR)
        return fail_at(GS_USAGE, path, 0, "is a folder, not a config file");
    if (errno == EMEDIUMTYPE)
        return fail_at(GS_USAGE, path, 0, "cannot be read: %s", files_why(errno));
    return locate_failed(GS_USAGE, path, LOCATE_CONFIG);
}

int config_load_all(struct config **out, const char *path, const char *const *overrides)
{
    AUTO_TEXT struct text text = {0};
    AUTO_FREE char *file = locate_config(path);
    *out = NULL;
    text_clear(&text); /* an empty file is a text too */
    int code = read_bytes(file, &text);
    return code ? code : config_from_text(out, file, text.s, text.len, overrides);
}

int config_check_commands(const struct config *c)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++)
        if (c->entries[i].cut)
            code = config_error(&c->entries[i], "a blank and ';' begin a comment, which would cut "
                                                "the command; quote the value");
    return code;
}

int config_load(struct config **out, const char *path, const char *const *overrides)
{
    int code = config_load_all(out, path, overrides);
    if (code) {
        config_free(*out);
        *out = NULL;
    }
    return code;
}
