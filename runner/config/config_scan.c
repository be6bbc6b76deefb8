/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_scan.h"

#include "base/err.h"
#include "base/printable.h"
#include "base/text.h"
#include "config/train_settings.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULTS_MAX 20

/* A line as iniparser sees it: physical lines that end in a backslash are joined. */
struct line {
    struct text text;  /* without the white space around it */
    size_t last_start; /* where its last physical line begins in text */
    int number;        /* of its first physical line */
};

struct scan {
    struct config *c;
    const char *next; /* what is not yet read */
    int number;       /* of the line at next */
    int faults;
    const char *section; /* c's; NULL before the first */
    bool lost;           /* the section line was refused: its keys are judged, not kept */
};

/* ---- names and values ---- */

bool scan_is_value(const char *s)
{
    return printable(s, "\t");
}

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
bool scan_key_name(const char *section, char *s)
{
    return (section && train_is_section(section) && train_is_variable(s)) || lower_name(s, "_.->");
}

/* NAME or NAME LABEL, one blank between: both become names of folders and columns. */
bool scan_section_name(char *s)
{
    char *blank = strchr(s, ' ');
    return lower_name(s, "_.- ") && *s != ' ' && *s != '.' && *s != '-' &&
           (!blank || (isalnum((unsigned char)blank[1]) && !strchr(blank + 1, ' ')));
}

__attribute__((format(printf, 3, 4))) static void fault(struct scan *s, const struct line *l,
                                                        const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (s->faults++ < FAULTS_MAX)
        fail_at(GS_USAGE, s->c->path, l->number, "%s", text);
    else if (s->faults == FAULTS_MAX + 1)
        fail_at(GS_USAGE, s->c->path, l->number, "more faults follow; correct the first %d",
                FAULTS_MAX);
}

/* ---- lines ---- */

static void trim(struct text *t)
{
    size_t lead = 0;
    while (t->len && isspace((unsigned char)t->s[t->len - 1]))
        t->s[--t->len] = '\0';
    while (isspace((unsigned char)t->s[lead]))
        lead++;
    memmove(t->s, t->s + lead, t->len - lead + 1);
    t->len -= lead;
}

/* Takes the next line, continuations joined as iniparser joins them. False at the end. */
static bool next_line(struct scan *s, struct line *l)
{
    text_clear(&l->text);
    l->number = s->number;
    bool more = *s->next;
    for (bool joined = more; joined;) {
        size_t n = strcspn(s->next, "\n"), end = n;
        while (end && isspace((unsigned char)s->next[end - 1]))
            end--;
        joined = end && s->next[end - 1] == '\\';
        l->last_start = l->text.len;
        text_addn(&l->text, s->next, joined ? end - 1 : n);
        s->next += n + (s->next[n] == '\n');
        s->number++;
        if (joined && !*s->next) {
            fault(s, l, "the file ends in a '\\', which continues the line; remove it");
            return false;
        }
    }
    return more;
}

static void section_line(struct scan *s, const struct line *l)
{
    struct config *c = s->c;
    char *name = l->text.s + 1, *end = strchr(name, ']');
    s->lost = true;
    if (!end || end[1]) {
        fault(s, l,
              "a section line must be [NAME] and nothing else; put a comment on its own line");
        return;
    }
    *end = '\0';
    if (!scan_section_name(name)) {
        fault(
            s, l,
            "[%.80s] is not a section name (letters, digits and '_', then optionally a blank and a "
            "label)",
            name);
        return;
    }
    const struct config_section *twin = config_section(c, name);
    if (twin)
        fault(s, l, "duplicate section [%s]: first on line %d", name, twin->line);
    else
        config_add_section(c, name, l->number);
    s->section = config_section(c, name)->name;
    s->lost = false;
}

/* In a command, ';' is more likely to separate two commands than to begin a comment. */
static bool is_command(const char *key)
{
    static const char *const commands[] = {"command", "prefix", "args", "setup"};
    for (size_t i = 0; i < COUNT(commands); i++)
        if (!strcmp(key, commands[i]))
            return true;
    return false;
}

/* What stands behind a value may only be a comment. NULL, or what is wrong with it. */
static const char *comment_fault(const struct line *l, const char *key, const char *comment)
{
    if (!*comment)
        return NULL;
    if ((size_t)(comment - l->text.s) < l->last_start)
        return "a comment cannot stand inside a continued value; move it";
    if (*comment == ';' && (!strcmp(key, "exclude") || !strcmp(key, "zip")))
        return "';' begins a comment here; quote the value, or begin the comment with '#'";
    return NULL;
}

/* Cuts the value at *v out of its line; NULL, or what is wrong with it. *cut: as in config_entry. */
static const char *cut_value(const struct line *l, const char *key, char **v, bool *cut)
{
    char *end, *comment;
    const char *wrong;
    bool quoted = **v == '"' || **v == '\'';
    if (quoted) {
        end = strchr(*v + 1, **v);
        if (!end)
            return "the quote is not closed on its line";
        comment = end + 1 + strspn(end + 1, " \t");
        if (*comment && *comment != ';' && *comment != '#')
            return "something follows the closing quote";
        ++*v;
    } else {
        end = comment = *v + strcspn(*v, ";#");
        if (*end && end > *v && !isspace((unsigned char)end[-1]))
            return is_command(key)
                       ? "';' and '#' begin a comment; quote the value"
                       : "';' and '#' begin a comment; put a blank in front, or quote the value";
        while (end > *v && isspace((unsigned char)end[-1]))
            end--;
    }
    wrong = comment_fault(l, key, comment);
    *cut = !quoted && *comment == ';' && is_command(key);
    if (!wrong)
        *end = '\0';
    return wrong;
}

static void value_line(struct scan *s, const struct line *l)
{
    struct config *c = s->c;
    char *key = l->text.s, *equals = strchr(key, '=');
    if (!equals) {
        fault(s, l, "'%.80s' is neither [SECTION] nor KEY = VALUE nor a comment", key);
        return;
    }
    char *key_end = equals, *value = equals + 1 + strspn(equals + 1, " \t");
    while (key_end > key && isspace((unsigned char)key_end[-1]))
        key_end--;
    *key_end = '\0';
    if (!scan_key_name(s->section, key)) {
        fault(s, l, "'%.80s' is not a key name (letters, digits, '_', '.', '-' and '>')", key);
        return;
    }
    bool cut = false;
    const char *wrong = cut_value(l, key, &value, &cut);
    const struct config_entry *twin = s->section ? config_find(c, s->section, key) : NULL;
    if (!s->section && !s->lost)
        wrong = "comes before the first [SECTION]";
    else if (!wrong && !scan_is_value(value))
        wrong = "the value is not UTF-8 text or contains control characters";
    if (wrong)
        fault(s, l, "key '%s': %s", key, wrong);
    else if (twin && !s->lost)
        fault(s, l, "key '%s': is set twice in [%s]: first on line %d", key, s->section,
              twin->line);
    /* A command that is wrong is not missing as well. */
    if (s->section && !s->lost && !twin && (!wrong || is_command(key))) {
        config_add_entry(c, s->section, key, value, c->path, l->number);
        c->entries[c->n - 1].cut = cut;
    }
}

static void one_line(struct scan *s, struct line *l)
{
    bool whole = l->text.len <= SCAN_LINE_MAX, joined = l->last_start > 0;
    trim(&l->text);
    char first = *l->text.s;
    if (!whole)
        fault(s, l,
              "longer than %d bytes, continued lines included; use a range (8:1GiB:x2) or a "
              "second section",
              SCAN_LINE_MAX);
    else if (joined && (!first || strchr("#;[", first)))
        fault(s, l, "the '\\' at the end would join the next line to this one");
    else if (first == '[')
        section_line(s, l);
    else if (first && first != '#' && first != ';')
        value_line(s, l);
}

int scan_ini(struct config *c)
{
    struct scan s = {.c = c, .next = c->text, .number = 1};
    struct line l = {0};
    if (!strncmp(c->text, "\xef\xbb\xbf", 3))
        return fail_at(GS_USAGE, c->path, 1, "begins with a byte order mark; save it without");
    while (s.faults <= FAULTS_MAX && next_line(&s, &l)) {
        one_line(&s, &l);
        if (c->n > SCAN_ENTRIES_MAX) {
            fault(&s, &l, "more than %d keys in one config; split it", SCAN_ENTRIES_MAX);
            break;
        }
    }
    text_free(&l.text);
    return s.faults ? GS_USAGE : GS_OK;
}
