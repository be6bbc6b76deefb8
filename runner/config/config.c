/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "base/err.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/text.h"
#include "config/locate.h"
#include "config/params.h"
#include "config/settings_tables.h"

#include <ctype.h>
#include <errno.h>
#include <iniparser/iniparser.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what a config holds ---- */

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

static void add_section(struct config *c, const char *name, int line)
{
    APPEND(c->sections, c->n_sections) = (struct config_section){xstrdup(name), line};
}

static void add_entry(struct config *c, const char *section, const char *key, const char *value,
                      const char *file, int line)
{
    APPEND(c->entries, c->n) = (struct config_entry){.section = xstrdup(section),
                                                     .key = xstrdup(key),
                                                     .value = xstrdup(value),
                                                     .file = file,
                                                     .line = line};
}

/* ---- the lines of an .ini text ----
 *
 * iniparser reads the values, but keeps no line numbers, and it accepts lines that their writer meant
 * otherwise: a ';' inside a value ends it, what follows a quoted value is ignored, and a line that ends
 * in a backslash swallows the next one, comments too. So a scan finds the line of each section and key,
 * and refuses such lines.
 */

#define SCAN_LINE_MAX 1022    /* bytes of a line: iniparser's buffer */
#define SCAN_ENTRIES_MAX 4096 /* iniparser and config_find search linearly */
#define FAULTS_MAX 20

struct scan {
    struct config *c;
    int number; /* of the line */
    int faults;
    const char *section; /* c's; NULL before the first */
    bool lost;           /* the section line was refused: its keys are judged, not kept */
};

static bool lower_name(char *s, const char *allowed)
{
    for (char *p = s; *p; p++) {
        *p = (char)tolower((unsigned char)*p);
        if (!isalnum((unsigned char)*p) && !strchr(allowed, *p))
            return false;
    }
    return *s;
}

/* Environment variables are the only keys whose case matters. */
static bool scan_key_name(const char *section, char *s)
{
    return (section && train_is_section(section) && train_is_variable(s)) || lower_name(s, "_.->");
}

/* NAME or NAME LABEL, one blank between: both become names of folders and columns. */
static bool scan_section_name(char *s)
{
    char *blank = strchr(s, ' ');
    return lower_name(s, "_.- ") && *s != ' ' && *s != '.' && *s != '-' &&
           (!blank || (isalnum((unsigned char)blank[1]) && !strchr(blank + 1, ' ')));
}

__attribute__((format(printf, 2, 3))) static void fault(struct scan *s, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    s->faults++;
    fail_at(GS_USAGE, s->c->path, s->number, "%s", text);
}

static void section_line(struct scan *s, char *name)
{
    char *end = strchr(++name, ']');
    s->lost = true;
    if (!end || end[1]) {
        fault(s, "a section line must be [NAME] and nothing else; put a comment on its own line");
        return;
    }
    *end = '\0';
    if (!scan_section_name(name)) {
        fault(s,
              "[%.80s] is not a section name (letters, digits and '_', then optionally a blank and "
              "a label)",
              name);
        return;
    }
    const struct config_section *twin = config_section(s->c, name);
    if (twin)
        fault(s, "duplicate section [%s]: first on line %d", name, twin->line);
    else
        add_section(s->c, name, s->number);
    s->section = config_section(s->c, name)->name;
    s->lost = false;
}

/* What is wrong with the rest of a line, behind its '='; NULL: nothing. Only a comment may stand behind
 * a value. In a command, ';' is more likely to separate two commands than to begin a comment. */
static const char *value_fault(const char *v, bool command)
{
    if (*v == '"' || *v == '\'') {
        const char *end = strchr(v + 1, *v);
        if (!end)
            return "the quote is not closed on its line";
        end += 1 + strspn(end + 1, " \t");
        return *end && *end != ';' && *end != '#' ? "something follows the closing quote" : NULL;
    }
    const char *comment = v + strcspn(v, ";#");
    if (command && *comment && (*comment == ';' || !isspace((unsigned char)comment[-1])))
        return "';' and '#' begin a comment; quote the value";
    if (*comment && comment > v && !isspace((unsigned char)comment[-1]))
        return "';' and '#' begin a comment; put a blank in front, or quote the value";
    return NULL;
}

static void value_line(struct scan *s, char *key)
{
    struct config *c = s->c;
    char *equals = strchr(key, '=');
    if (!equals) {
        fault(s, "'%.80s' is neither [SECTION] nor KEY = VALUE nor a comment", key);
        return;
    }
    char *end = equals, *value = equals + 1 + strspn(equals + 1, " \t");
    while (end > key && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    if (!scan_key_name(s->section, key)) {
        fault(s, "'%.80s' is not a key name (letters, digits, '_', '.', '-' and '>')", key);
        return;
    }
    const bool command = text_lists("prefix,args,setup", ",", key);
    const char *wrong = value_fault(value, command);
    const struct config_entry *twin = s->section ? config_find(c, s->section, key) : NULL;
    if (!s->section && !s->lost)
        wrong = "comes before the first [SECTION]";
    if (wrong)
        fault(s, "key '%s': %s", key, wrong);
    else if (twin && !s->lost)
        fault(s, "key '%s': is set twice in [%s]: first on line %d", key, s->section, twin->line);
    /* A command that is wrong is not missing as well. */
    if (s->section && !s->lost && !twin && (!wrong || command))
        add_entry(c, s->section, key, "", c->path, s->number);
}

/* Fills c->sections and c->entries from c->text, with names in lower case and without values; `good` gets
 * the lines without fault. GS_OK, or GS_USAGE after reporting up to 20 faults. */
static int scan_ini(struct config *c, struct text *good)
{
    struct scan s = {.c = c};
    if (!strncmp(c->text, "\xef\xbb\xbf", 3))
        return fail_at(GS_USAGE, c->path, 1, "begins with a byte order mark; save it without");
    text_clear(good);
    for (const char *from = c->text, *next; *from && s.faults < FAULTS_MAX; from = next) {
        const int before = s.faults;
        const size_t n = strcspn(from, "\n");
        next = from + n + (from[n] == '\n');
        AUTO_FREE char *whole = xstrfmt("%.*s", (int)n, from);
        char *line = whole, *end = whole + n;
        s.number++;
        while (isspace((unsigned char)*line))
            line++;
        while (end > line && isspace((unsigned char)end[-1]))
            *--end = '\0';
        if (n > SCAN_LINE_MAX)
            fault(&s, "longer than %d bytes; use a range (8:1GiB:x2) or a second section",
                  SCAN_LINE_MAX);
        else if (end > line && end[-1] == '\\')
            fault(&s, "the '\\' at the end would join the next line to this one; write one line");
        else if (*line == '[')
            section_line(&s, line);
        else if (*line && *line != '#' && *line != ';')
            value_line(&s, line);
        if (s.faults == before && !s.lost)
            text_addn(good, from, (size_t)(next - from));
        if (c->n > SCAN_ENTRIES_MAX) {
            fault(&s, "more than %d keys in one config; split it", SCAN_ENTRIES_MAX);
            break;
        }
    }
    return s.faults ? GS_USAGE : GS_OK;
}

/* ---- --set SECTION:KEY=VALUE ---- */

static int apply(struct config *c, const char *override)
{
    AUTO_FREE char *section = xstrdup(override);
    char *equals = strchr(section, '='), *colon = strchr(section, ':');
    if (!equals || !colon || colon > equals)
        return fail(GS_USAGE, "--set '%s' is not SECTION:KEY=VALUE, e.g. measure:launches=3",
                    override);
    *colon = *equals = '\0';
    const char *key = colon + 1, *value = equals + 1;
    if (!scan_section_name(section) || !scan_key_name(section, colon + 1))
        return fail(GS_USAGE, "--set '%s': the name of the section or key is not valid", override);
    if (!printable(value, "\t"))
        return fail(GS_USAGE,
                    "--set %s:%s: the value is not UTF-8 text or contains control characters",
                    section, key);
    /* A fixed section may be absent from the file; a workload that is would be a typo. */
    if (!settings_section_find(section) && !config_section(c, section)) {
        AUTO_WORDS struct words names = {0};
        for (const struct settings_section *s = settings_sections; s->name; s++)
            words_add(&names, s->name);
        for (size_t i = 0; i < c->n_sections; i++)
            words_add(&names, c->sections[i].name);
        const char *near = text_nearest(section, (const char *const *)names.v, names.n);
        return fail(GS_USAGE, "--set: %s has no section [%s]%s", c->path, section,
                    DID_YOU_MEAN_SECTION(near));
    }
    if (!config_section(c, section))
        add_section(c, section, 0);
    struct config_entry *e = (struct config_entry *)config_find(c, section, key);
    if (!e) {
        add_entry(c, section, key, value, "--set", 0);
        return GS_OK;
    }
    xstrset(&e->value, value);
    e->file = "--set";
    e->line = 0;
    return GS_OK;
}

/* ---- loading ---- */

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

/* ---- names ---- */

static int unknown_key(const struct config_entry *e, const struct settings_section *s)
{
    const char *near = params_nearest(s->table, e->key);
    for (const struct settings_section *home = settings_sections; home->name; home++)
        if (home->table && params_find(home->table, e->key))
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
    if (settings_section_find(s->name))
        return GS_OK;
    const char *near = settings_section_nearest(s->name);
    const struct settings_section *meant = near ? settings_section_find(near) : NULL;
    for (size_t i = 0; meant && meant->table && i < c->n; i++)
        if (!strcmp(c->entries[i].section, s->name) && params_find(meant->table, c->entries[i].key))
            return fail_at(GS_USAGE, c->path, s->line, "unknown section [%s]%s", s->name,
                           DID_YOU_MEAN_SECTION(near));
    return GS_OK;
}

/* ---- loading ---- */

static int parse(struct config *c, size_t n)
{
    if (strlen(c->text) != n)
        return fail_at(GS_USAGE, c->path, 0, "contains NUL bytes: this is not a config");
    AUTO_TEXT struct text good = {0};
    int code = scan_ini(c, &good);
    dictionary *d = parse_copy(good.s, good.len);
    if (!d)
        return code ? code : fail_at(GS_USAGE, c->path, 0, "iniparser cannot read it");
    const bool faulty = code != GS_OK; /* a line that was refused has no value */
    for (size_t i = 0; i < c->n; i++) {
        struct config_entry *e = &c->entries[i];
        AUTO_FREE char *name = xstrfmt("%s:%s", e->section, e->key);
        const char *value = iniparser_getstring(d, name, NULL);
        if (value && printable(value, "\t"))
            xstrset(&e->value, value);
        else if (value)
            code = config_error(e, "the value is not UTF-8 text or contains control characters");
        else if (!faulty)
            code = config_error(e, "iniparser does not read this line; quote the value");
    }
    iniparser_freedict(d);
    /* Comments too: a recording holds the whole text, and readers refuse one that is not printable. */
    int number = 1;
    for (const char *s = c->text; *s && !code; number++) {
        size_t length = strcspn(s, "\n");
        AUTO_FREE char *line = xstrfmt("%.*s", (int)length, s);
        if (!printable(line, "\t\r"))
            code = fail_at(GS_USAGE, c->path, number,
                           "is not UTF-8 text or contains control characters");
        s += length + (s[length] == '\n');
    }
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
    c->text = secrets_hidden_config(whole); /* what is recorded; the entries hold the values */
    int set_code = GS_OK, sections = GS_OK;
    size_t n_set = 0;
    while (overrides && overrides[n_set])
        n_set++;
    c->overrides = xcalloc(n_set + 1, sizeof *c->overrides);
    for (size_t i = 0; i < n_set; i++) {
        c->overrides[i] = secrets_hidden_config(overrides[i]);
        if (apply(c, overrides[i]))
            set_code = GS_USAGE;
    }
    for (size_t i = 0; i < c->n_sections; i++)
        if (check_section(c, &c->sections[i]))
            sections = GS_USAGE;
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
        return fail_at(GS_USAGE, path, 0,
                       "is a folder, not a config; to complete a run: gradsync resume RUN");
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

int config_load(struct config **out, const char *path, const char *const *overrides)
{
    int code = config_load_all(out, path, overrides);
    if (code) {
        config_free(*out);
        *out = NULL;
    }
    return code;
}

/* ---- commands with a config ---- */

char *config_command(const char *verb, const char *config, const char *workload,
                     const char *const *overrides)
{
    struct text t = {0};
    text_addf(&t, "gradsync %s%s", verb, config ? " " : "");
    if (config)
        shell_quote(&t, config);
    if (workload) {
        text_add(&t, " --workload ");
        shell_quote(&t, workload);
    }
    for (; overrides && *overrides; overrides++) {
        text_add(&t, " --set ");
        AUTO_FREE char *shown = secrets_hidden_config(*overrides);
        shell_quote(&t, shown);
    }
    return t.s;
}
