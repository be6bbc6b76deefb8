/* SPDX-License-Identifier: Apache-2.0 */
#include "limits/reference.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/baseline.h"
#include "compare/between_runs.h"
#include "config/config.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- values ---- */

static bool parse_value(const char *s, struct reference_value *out)
{
    out->rate = false;
    if (units_parse_time(s, &out->value))
        return out->value > 0;
    out->rate = units_parse_rate(s, &out->value);
    return out->rate && out->value > 0;
}

/* Writes into `head`. */
static bool parse_head(char *head, struct reference_value *out)
{
    static const char *const signs[] = {"±", "+-", "+/-"};
    char *sign = NULL;
    size_t n = 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !sign; i++) {
        sign = strstr(head, signs[i]);
        n = strlen(signs[i]);
    }
    struct words value;
    bool good;
    if (sign)
        *sign = '\0';
    words_split(&value, head, '\n'); /* trims */
    good = value.n == 1 && parse_value(value.v[0], out);
    words_free(&value);
    if (!good || !sign)
        return good;
    words_split(&value, sign + n, '\n');
    good = value.n == 1 && units_parse_real(value.v[0], &out->tolerance) && out->tolerance > 0 &&
           out->tolerance < 1;
    words_free(&value);
    return good;
}

static const char at[] = " at ";

bool reference_parse(const char *text, struct reference_value *out)
{
    const char *end = strstr(text, at);
    AUTO_FREE char *head = xstrfmt("%.*s", (int)(end ? end - text : (ptrdiff_t)strlen(text)), text);
    return parse_head(head, out);
}

/* ---- places ---- */

/* What stands behind "at", or NULL. */
static const char *place_of(const struct config_entry *e)
{
    const char *s = strstr(e->value, at);
    return s ? s + strlen(at) + strspn(s + strlen(at), " ") : NULL;
}

static bool has_value(const struct rec_cell *c, const char *word)
{
    AUTO_WORDS struct words params = {0};
    bool found = false;
    words_split(&params, c->params, ' ');
    for (size_t i = 0; i < params.n && !found; i++) {
        const char *v = strchr(params.v[i], '=');
        found = v && !strcasecmp(v + 1, word);
    }
    return found;
}

/* Takes `part` and the slash after it off the front of *s, whatever the case. */
static bool take(const char **s, const char *part)
{
    size_t n = strlen(part);
    if (strncasecmp(*s, part, n) || (*s)[n] != '/')
        return false;
    *s += n + 1;
    return true;
}

/* How closely the place fits: 0 not at all, else 1 + the slashes in the config: of the configs
 * "ring" and "ring/LL128", the longer is meant. */
static int fits(const char *place, const char *section, const struct rec_cell *c)
{
    uint64_t size;
    int depth = 1;
    if (!take(&place, section) || !take(&place, *c->config ? c->config : "default"))
        return 0;
    for (const char *s = c->config; *s; s++)
        depth += *s == '/';
    AUTO_WORDS struct words rest = {0};
    words_split(&rest, place, '/');
    bool good = units_parse_size(rest.v[rest.n - 1], &size) && (int64_t)size == c->size_B;
    for (size_t i = 0; i + 1 < rest.n && good; i++)
        good = has_value(c, rest.v[i]);
    return good ? depth : 0;
}

static char *section_of(const struct recorded *r)
{
    return xstrfmt("%s%s%s", r->workload, *r->label ? " " : "", r->label);
}

/* The cell that is meant: GS_USAGE, reported, when several fit; NULL when none does. */
static int find_cell(const struct recorded *r, const struct config_entry *e,
                     const struct rec_cell **out)
{
    AUTO_FREE char *section = section_of(r);
    int best = 0, code = GS_OK;
    *out = NULL;
    for (size_t i = 0; i < r->n_cells; i++) {
        int depth = fits(place_of(e), section, &r->cells[i]);
        if (depth > best) {
            *out = &r->cells[i];
            code = GS_OK;
        } else if (depth && depth == best) {
            code = GS_USAGE;
        }
        best = depth > best ? depth : best;
    }
    if (code)
        code = config_error(e,
                            "matches several cells, one with the parameters %s: write a value that "
                            "only one of them has before the size, e.g. %s/VALUE/SIZE",
                            (*out)->params, section);
    return code;
}

/* ---- contrasts ---- */

static double value_time(const struct reference_value *v, const struct rec_cell *c)
{
    return v->rate ? (double)c->size_B * c->busbw_factor / v->value : v->value;
}

static void add_measured(struct contrast *one, const struct set_cell *m, double expected)
{
    for (size_t i = 0; i < m->x.n; i++)
        values_add(&one->x, (struct nested){.launch = m->x.v[i].launch,
                                            .value = m->x.v[i].value - log(expected)});
    if (m->note)
        contrast_note(one, "%s", m->note);
}

static const struct set_cell *measured(const struct run_set *s, const struct rec_cell *cell)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->cells[i].cell == cell)
            return &s->cells[i];
    return NULL;
}

struct reference_pass {
    struct comparison *c;
    const struct run_set *side;
    const struct recorded *r;
    double equivalence;
};

static int add_reference(const struct reference_pass *p, const struct config_entry *e, bool *known)
{
    struct reference_value v = {.tolerance = p->equivalence};
    const struct rec_cell *cell;
    int code = find_cell(p->r, e, &cell);
    if (code || !cell)
        return code;
    *known = true;
    if (!reference_parse(e->value, &v))
        return config_error(e,
                            "'%s' is neither a time nor a rate with a tolerance, like "
                            "1.2ms ± 5%% or 355GB/s ± 3%%",
                            e->value);
    if (v.rate && !(cell->busbw_factor > 0))
        return config_error(e, "this cell is not a collective and has no bandwidth; give a time");
    struct contrast *one = comparison_add(p->c, p->r, cell, e->value);
    const struct set_cell *m = measured(p->side, cell);
    one->kind = CONTRAST_REFERENCE;
    one->bound = v.tolerance;
    one->family = p->c->families++;
    if (m)
        add_measured(one, m, value_time(&v, cell));
    else
        contrast_note(one, "not measured in this run");
    return GS_OK;
}

static bool is_about(const struct recorded *r, const struct config_entry *e)
{
    AUTO_FREE char *section = section_of(r);
    const char *place = strcmp(e->section, "reference") ? NULL : place_of(e);
    return place && take(&place, section);
}

static int add_run(const struct reference_pass *p, const struct config *config)
{
    int code = GS_OK;
    for (size_t i = 0; i < config->n && !code; i++) {
        const struct config_entry *e = &config->entries[i];
        bool known = false;
        if (!is_about(p->r, e))
            continue;
        code = add_reference(p, e, &known);
        if (!code && !known)
            code = config_error(
                e, "no cell of run %s fits this place: SECTION/CONFIG/SIZE, e.g. %s/%s/%lld",
                p->r->run_id, p->r->workload, p->r->cells[0].config,
                (long long)p->r->cells[0].size_B);
    }
    return code;
}

static int read_config(struct config **out, const struct recorded *r, const char *other)
{
    AUTO_FREE char *path = other ? xstrdup(other) : xstrfmt("%s/config.ini", r->dir);
    return access(path, F_OK) && !other
               ? config_from_text(out, path, "", 0, NULL)
               : config_load(out, path, other ? NULL : (const char *const *)r->overrides);
}

int compare_reference(struct comparison *c, const char *root, const char *other)
{
    AUTO(run_set_free) struct run_set side = {0};
    int code = run_set_read(&side, root);
    for (size_t i = 0; i < side.n_runs && !code; i++) {
        struct reference_pass p = {.c = c, .side = &side, .r = side.runs[i]};
        struct config *config = NULL;
        struct compare_rules rules;
        code = compare_rules_read(&rules, p.r);
        p.equivalence = rules.equivalence;
        if (!code)
            code = read_config(&config, p.r, other);
        if (!code)
            code = add_run(&p, config);
        config_free(config);
    }
    if (!code && !c->n)
        code = fail(GS_USAGE,
                    "%s: no published number of its workloads in [reference] of its config; add "
                    "one, e.g. NAME = 1.2ms ± 5%% at mpi_allreduce/auto/1MiB",
                    root);
    return code;
}

bool comparison_regressed(const struct comparison *c)
{
    bool any = false;
    for (size_t i = 0; i < c->n; i++)
        any = any ||
              (c->v[i].kind == CONTRAST_REFERENCE && c->v[i].judgement.verdict == VERDICT_SLOWER);
    return any;
}
