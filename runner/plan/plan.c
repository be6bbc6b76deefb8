/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include "base/err.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "common/rng.h"
#include "config/params.h"
#include "config/settings.h"
#include "plan/sweep.h"
#include "plugin/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static void cell_free(struct cell *c)
{
    free(c->config);
    free(c->mode);
    free(c->params);
    free(c->skip);
    free(c->values);
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_cells; i++)
        cell_free(&p->cells[i]);
    free(p->cells);
    free(p->groups);
    free(p->section);
    free(p->workload);
    free(p->label);
    plugin_unload(p->plugin);
    config_free(p->config);
    free(p);
}

bool plan_group_compares(const struct plan *p, const struct group *g)
{
    const char *seen = NULL;
    for (size_t i = g->first; i < g->first + g->n; i++) {
        const char *label = p->cells[i].config;
        if (*label && seen && strcmp(label, seen))
            return true;
        seen = *label ? label : seen;
    }
    return false;
}

int plan_group_copies(const struct plan *p, const struct group *g, const struct cell *c)
{
    return c->baseline && plan_group_compares(p, g) ? 2 : 1;
}

/* ---- names for messages ---- */

const char *plan_cell_name(const struct plan *p, const struct cell *cell, char *buf, size_t n)
{
    AUTO_WORDS struct words w = {0};
    size_t used = 0;
    words_split(&w, cell->params, ' ');
    for (size_t k = 0; k < w.n && used < n; k++) {
        bool differs = false; /* all cells have the same keys in the same order */
        for (size_t i = 0; i < p->n_cells && !differs; i++) {
            AUTO_WORDS struct words other = {0};
            words_split(&other, p->cells[i].params, ' ');
            differs = k >= other.n || strcmp(other.v[k], w.v[k]) != 0;
        }
        if (differs)
            used += (size_t)snprintf(buf + used, n - used, "%s ", w.v[k]);
    }
    if (used < n)
        snprintf(buf + used, n - used, "(%s)", cell->id);
    return buf;
}

const struct cell *plan_cell_find(const struct plan *p, const char *id)
{
    for (size_t i = 0; i < p->n_cells; i++)
        if (!strcmp(p->cells[i].id, id))
            return &p->cells[i];
    return NULL;
}

/* ---- the order of groups and visits ---- */

/* Random streams of a launch: 0 for the order of groups, 1 for the plugin's seed, from 2 up one for
 * each pair of blocks, from the top down one for each group's preparation order. */
enum { STREAM_GROUPS, STREAM_PLUGIN, STREAM_BLOCKS };
#define STREAM_PREPARED(group) (UINT64_MAX - (group))
#define PAIRS_MAX (UINT64_C(1) << 32)

static void launch_stream(struct rng *rng, uint64_t seed, int launch, uint64_t stream)
{
    struct rng of_launch;
    rng_stream(&of_launch, seed, (uint64_t)launch);
    rng_stream(rng, rng_next(&of_launch), stream);
}

static void shuffled(size_t *order, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    rng_shuffle(rng, order, n);
}

void plan_order_groups(size_t *order, size_t n, uint64_t seed, int launch)
{
    struct rng rng;
    launch_stream(&rng, seed, launch, STREAM_GROUPS);
    shuffled(order, n, &rng);
}

void plan_order_prepared(size_t *order, size_t n, uint64_t seed, int launch, size_t group)
{
    struct rng rng;
    launch_stream(&rng, seed, launch, STREAM_PREPARED(group));
    shuffled(order, n, &rng);
}

void plan_order_visits(size_t *order, size_t n, uint64_t seed, int launch, size_t group, int block)
{
    struct rng rng;
    uint64_t pair = (uint64_t)(block - 1) / 2;
    launch_stream(&rng, seed, launch, STREAM_BLOCKS + group * PAIRS_MAX + pair);
    shuffled(order, n, &rng);
    if (block % 2)
        return;
    for (size_t i = 0; i < n / 2; i++) {
        size_t swap = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = swap;
    }
}

uint64_t plan_launch_seed(uint64_t seed, int launch)
{
    struct rng rng;
    launch_stream(&rng, seed, launch, STREAM_PLUGIN);
    return rng_next(&rng);
}

/* ---- the cells of a sweep in groups ---- */

struct draft {
    struct cell cell;
    char group[PLAN_ID]; /* cells with equal ids form a group */
    size_t place;        /* in the sweep */
    size_t first;        /* place of its group's first cell */
};

static int compare_place(const struct draft *a, const struct draft *b)
{
    return (a->place > b->place) - (a->place < b->place);
}

static int by_id(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    int c = strcmp(x->cell.id, y->cell.id);
    return c ? c : compare_place(x, y);
}

static int by_group(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    int c = strcmp(x->group, y->group);
    return c ? c : compare_place(x, y);
}

static int by_first(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : compare_place(x, y);
}

/* Keeps one of each id, in drafts[0..*n). Only config_free cells may come more than once. */
static int drop_twins(const struct plan *p, struct draft *drafts, size_t *n)
{
    size_t kept = 0;
    int code = GS_OK;
    qsort(drafts, *n, sizeof *drafts, by_id);
    for (size_t i = 0; i < *n; i++) {
        struct draft *d = &drafts[i];
        if (!kept || strcmp(d->cell.id, drafts[kept - 1].cell.id)) {
            struct draft keep = *d;
            d->cell = (struct cell){0};
            drafts[kept++] = keep;
            continue;
        }
        if (!d->cell.shape.config_free && !code)
            code = fail_at(GS_USAGE, p->config->path, config_section(p->config, p->section)->line,
                           "[%s] has a cell twice: %s (%s)", p->section, d->cell.config,
                           d->cell.params);
        cell_free(&d->cell);
        d->cell = (struct cell){0};
    }
    *n = kept;
    return code;
}

/* Moves the cells into p->cells and p->groups, the groups in the order of their first cell. */
static void move_drafts(struct plan *p, struct draft *drafts, size_t n)
{
    qsort(drafts, n, sizeof *drafts, by_group);
    for (size_t i = 0; i < n; i++)
        drafts[i].first = i && !strcmp(drafts[i].group, drafts[i - 1].group) ? drafts[i - 1].first
                                                                             : drafts[i].place;
    qsort(drafts, n, sizeof *drafts, by_first);
    p->cells = xcalloc(n, sizeof *p->cells);
    p->groups = xcalloc(n, sizeof *p->groups);
    for (size_t i = 0; i < n; i++) {
        p->cells[i] = drafts[i].cell;
        drafts[i].cell = (struct cell){0};
        if (!p->n_groups || strcmp(p->groups[p->n_groups - 1].id, drafts[i].group)) {
            struct group *g = &p->groups[p->n_groups++];
            memcpy(g->id, drafts[i].group, PLAN_ID);
            g->first = i;
        }
        p->groups[p->n_groups - 1].n++;
    }
    p->n_cells = n;
}

/* ---- baselines ---- */

/* Marks the cells of one group that have the label; how many. */
static size_t mark_baseline(struct plan *p, const struct group *g, const char *label)
{
    size_t n = 0;
    for (size_t i = g->first; i < g->first + g->n; i++) {
        p->cells[i].baseline = *label && !strcmp(p->cells[i].config, label);
        n += p->cells[i].baseline;
    }
    return n;
}

static int unknown_baseline(const struct plan *p, const char *label)
{
    AUTO_TEXT struct text all = {0};
    for (size_t i = 0; i < p->n_cells; i++)
        if (*p->cells[i].config && !text_lists(all.s, ", ", p->cells[i].config))
            text_addf(&all, "%s%s", all.len ? ", " : "", p->cells[i].config);
    return config_error(config_find(p->config, "measure", "baseline"),
                        "'%s' is not a config of [%s]; choose %s", label, p->section, all.s);
}

static int choose_baselines(struct plan *p)
{
    const struct wl_plugin *wl = &p->plugin->wl;
    const char *text = p->set.measure.baseline;
    AUTO_FREE void *defaults = xcalloc(1, wl->cell_size), *cell = xcalloc(1, wl->cell_size);
    char why[1024];
    size_t marked = 0;
    bool compares = false;
    /* The parts of the label may be in any order. */
    params_default(wl->params, defaults, why, sizeof why);
    bool good = *text && sweep_label_parse(wl, defaults, text, cell, why, sizeof why);
    AUTO_FREE char *wanted = good ? sweep_label_config(wl, defaults, cell) : xstrdup(text);
    for (size_t i = 0; i < p->n_groups; i++) {
        size_t n = mark_baseline(p, &p->groups[i], wanted);
        marked += n;
        compares = compares || plan_group_compares(p, &p->groups[i]);
        const char *first = ""; /* the first label of the group stands in for one that it lacks */
        for (size_t k = p->groups[i].first;
             !n && k < p->groups[i].first + p->groups[i].n && !*first; k++)
            first = p->cells[k].config;
        if (!n)
            mark_baseline(p, &p->groups[i], first);
    }
    /* A section that compares nothing has no use for the baseline that others have. */
    return *wanted && !marked && compares ? unknown_baseline(p, wanted) : GS_OK;
}

/* ---- cells ---- */

/* What is needed while cells are made. */
struct builder {
    struct plan *p;
    struct sweep sweep;
    struct wl_job job;
    char *head;                     /* of every cell's canonical text */
    const struct wl_param **sorted; /* by name */
    size_t n_sorted;
    struct draft *drafts;
    size_t n;
};

/* ---- ids ---- */

static int by_name(const void *a, const void *b)
{
    const struct wl_param *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Ids are of canonical text, so that a value written in another way is the same cell. */
static void make_ids(const struct builder *b, const void *values, char cell[PLAN_ID],
                     char group[PLAN_ID])
{
    AUTO_TEXT struct text all = {0}, axes = {0};
    char value[256];
    text_add(&all, b->head);
    text_addf(&axes, "group\n%s", b->head);
    for (size_t i = 0; i < b->n_sorted; i++) {
        const struct wl_param *p = b->sorted[i];
        if (!plugin_has_param(&b->p->plugin->wl, p, values))
            continue;
        param_format(p, values, value, sizeof value);
        struct text *both[] = {&all, p->role == WL_AXIS ? &axes : NULL};
        for (size_t k = 0; k < 2 && both[k]; k++) {
            text_addf(both[k], "%s=%s\n", p->name, value);
        }
    }
    char hex[65];
    sha256_hex(all.s, all.len, hex);
    snprintf(cell, PLAN_ID, "%.*s", PLAN_ID - 1, hex);
    sha256_hex(axes.s, axes.len, hex);
    snprintf(group, PLAN_ID, "%.*s", PLAN_ID - 1, hex);
}

static char *params_text(const struct wl_plugin *wl, const void *values)
{
    struct text t = {0};
    char value[256];
    text_clear(&t);
    for (const struct wl_param *p = wl->params; p->name; p++) {
        if (!plugin_has_param(wl, p, values))
            continue;
        param_format(p, values, value, sizeof value);
        const char *quote = p->type == WL_TEXT && (!*value || strchr(value, ' ')) ? "\"" : "";
        text_addf(&t, "%s%s=%s%s%s", t.len ? " " : "", p->name, quote, value, quote);
    }
    return t.s;
}

/* ---- cells ---- */

static int describe(struct builder *b, const void *values, struct wl_shape *shape, char **skip)
{
    const struct wl_plugin *wl = &b->p->plugin->wl;
    char why[512] = "";
    *shape = (struct wl_shape){.size = sizeof *shape};
    enum wl_status status = wl->describe(values, &b->job, shape, why, sizeof why);
    if (status == WL_OK)
        return GS_OK;
    if (status == WL_SKIP) {
        *skip = xstrdup(*why ? why : "the plugin gives no reason");
        return GS_OK;
    }
    /* At the key that the reason begins with, as KEY=…, if the section has it. */
    const struct config *c = b->p->config;
    const struct config_entry *key = NULL;
    for (const struct wl_param *p = wl->params; p->name && !key; p++)
        if (!strncmp(why, p->name, strlen(p->name)) && why[strlen(p->name)] == '=')
            key = config_find(c, b->p->section, p->name);
    AUTO_FREE char *params = params_text(wl, values);
    return fail_at(GS_USAGE, key ? key->file : c->path,
                   key ? key->line : config_section(c, b->p->section)->line, "[%s] %s (cell: %s)",
                   b->p->section, *why ? why : "the plugin rejects a cell without a reason",
                   params);
}

static int add_cell(struct builder *b, size_t place)
{
    const struct wl_plugin *wl = &b->p->plugin->wl;
    void *values = xcalloc(1, wl->cell_size);
    struct cell cell = {.values = values};
    sweep_cell(&b->sweep, place, values);
    int code = describe(b, values, &cell.shape, &cell.skip);
    if (code) {
        free(values);
        return code;
    }
    /* A cell that does not depend on the config is the same for all of them: it gets the defaults. */
    for (const struct wl_param *p = wl->params; p->name && cell.shape.config_free; p++)
        if (p->role == WL_CONFIG)
            memcpy((char *)values + p->offset, (const char *)b->sweep.defaults + p->offset,
                   param_size(p));
    cell.config =
        cell.shape.config_free ? xstrdup("") : sweep_label_config(wl, b->sweep.defaults, values);
    cell.mode = sweep_label_mode(wl, values);
    cell.params = params_text(wl, values);
    struct draft *d = &APPEND(b->drafts, b->n);
    *d = (struct draft){.cell = cell, .place = place};
    make_ids(b, values, d->cell.id, d->group);
    return GS_OK;
}

/* Fills the cells and groups of a plan whose config, section, plugin and settings are set. GS_OK or
 * a code, reported: the sweep has a fault, or the plugin's describe() rejects a cell. */
static int plan_cells(struct plan *p)
{
    const struct set_launch *l = &p->set.launch;
    struct builder b = {.p = p,
                        .job = {.size = sizeof b.job,
                                .ranks = (int)l->ranks,
                                .nodes = (int)l->nodes,
                                .local_ranks = (int)(l->ranks / l->nodes)}};
    int code = sweep_read(&b.sweep, p->config, p->section, &p->plugin->wl);
    if (!code) {
        b.head = xstrfmt("platform=%s\nworkload=%s\nranks=%lld\nnodes=%lld\n", p->set.platform.name,
                         p->workload, (long long)l->ranks, (long long)l->nodes);
        b.n_sorted = params_count(p->plugin->wl.params);
        b.sorted = xcalloc(b.n_sorted, sizeof *b.sorted);
        for (size_t i = 0; i < b.n_sorted; i++)
            b.sorted[i] = &p->plugin->wl.params[i];
        qsort(b.sorted, b.n_sorted, sizeof *b.sorted, by_name);
        /* Other cells are likely to be rejected for the same reason. */
        for (size_t i = 0; i < sweep_count(&b.sweep) && !code; i++)
            code = add_cell(&b, i);
    }
    size_t drafts = b.n;
    if (!code) {
        code = drop_twins(p, b.drafts, &b.n);
        move_drafts(p, b.drafts, b.n);
        TRY(code, choose_baselines(p));
    }
    for (size_t i = 0; i < drafts; i++)
        cell_free(&b.drafts[i].cell);
    free(b.drafts);
    free(b.head);
    free(b.sorted);
    sweep_free(&b.sweep);
    return code;
}

/* ---- the plan of a section ---- */

/* No section is selected. */
static int no_section(const struct config *c, const char *word)
{
    if (!word)
        return fail_at(
            GS_USAGE, c->path, 0,
            "no workload section; add one, e.g. [mpi_allreduce] ('gradsync help plugins')");
    AUTO_TEXT struct text all = {0};
    for (size_t i = 0; config_workload(c, i); i++)
        text_addf(&all, "%s%s", i ? ", " : "", config_workload(c, i));
    return fail_at(GS_USAGE, c->path, 0, "no workload section [%s]; choose %s", word,
                   all.len ? all.s : "another config");
}

/* The plugin of a section; an error names the section's line. */
static int load_plugin(struct plugin **out, const struct config *c, const char *section)
{
    const struct config_section *s = config_section(c, section);
    if (!s)
        return no_section(c, section);
    if (train_is_section(section))
        return fail_at(
            GS_USAGE, c->path, s->line,
            "[%s] is gone; to compare settings of a job: gradsync tune --launches FILE -- "
            "COMMAND",
            section);
    AUTO_FREE char *name = xstrfmt("%.*s", (int)strcspn(section, " "), section);
    char said[1024];
    err_capture(said, sizeof said);
    int code = plugin_load(out, name);
    err_capture(NULL, 0);
    const char *text = strncmp(said, "gradsync: ", 10) ? said : said + 10;
    return code ? fail_at((enum gs_exit)code, c->path, s->line, "[%s]: %s", section, text) : GS_OK;
}

int plan_build(struct plan **out, struct config *config, const char *section, struct plugin *plugin,
               const struct settings *set)
{
    struct plan *p = xcalloc(1, sizeof *p);
    size_t word = strcspn(section, " ");
    *out = NULL;
    p->config = config;
    p->plugin = plugin;
    p->section = xstrdup(section);
    p->workload = xstrfmt("%.*s", (int)word, section);
    p->label = xstrdup(section[word] ? section + word + 1 : "");
    sha256_hex(config->text, strlen(config->text), p->config_sha256);
    int code = plugin ? GS_OK : load_plugin(&p->plugin, config, section);
    if (set)
        p->set = *set;
    else
        TRY(code, settings_read(config, &p->set));
    p->seed = (uint64_t)p->set.measure.seed;
    if (!p->seed) {
        if (getrandom(&p->seed, sizeof p->seed, GRND_NONBLOCK) != (ssize_t)sizeof p->seed)
            p->seed = (uint64_t)time(NULL) * 1000000007u << 11;
        /* 53 bits, so that readers that keep numbers as doubles keep it whole; never 0. */
        p->seed = (p->seed >> 11) | 1;
    }
    TRY(code, plan_cells(p));
    if (code)
        plan_free(p);
    else
        *out = p;
    return code;
}

/* ---- the sections of a config ---- */

/* "null" selects [null] and [null small]; "null small" only itself; NULL all. */
static bool is_wanted(const char *section, const char *word)
{
    size_t n = word ? strlen(word) : 0;
    return !word || !strcmp(section, word) || (!strncmp(section, word, n) && section[n] == ' ');
}

int plan_sections(struct sections *s, const char *config, const char *const *overrides,
                  const char *workload)
{
    AUTO(config_free_of) struct config *c = NULL;
    *s = (struct sections){0};
    CHECK(config_load(&c, config, overrides));
    return plan_sections_of(s, c, workload);
}

int plan_sections_of(struct sections *s, struct config *c, const char *workload)
{
    struct settings set; /* read once, so that their faults are reported once, not per section */
    int code = settings_read(c, &set);
    *s = (struct sections){0};
    for (size_t i = 0; config_workload(c, i); i++) {
        struct plan *p = NULL;
        if (!is_wanted(config_workload(c, i), workload))
            continue;
        int one = plan_build(&p, config_share(c), config_workload(c, i), NULL, &set);
        AUTO_WORDS struct words plugins = {0};
        if (!one) {
            APPEND(s->plans, s->n) = p;
            continue;
        }
        *(one == GS_CANNOT ? &s->left_out : &code) = one;
        plugin_names(&plugins);
        if (!plugins.n) /* that is said once, not of each section */
            break;
    }
    if (!code && !s->n)
        code = s->left_out ? s->left_out : no_section(c, workload);
    return code;
}

void plan_sections_free(struct sections *s)
{
    for (size_t i = 0; i < s->n; i++)
        plan_free(s->plans[i]);
    free(s->plans);
    *s = (struct sections){0};
}
