/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_run.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/units.h"
#include "base/version.h"
#include "config/config.h"
#include "config/settings.h"
#include "plan/plan.h"
#include "record/manifest.h"
#include "record/record.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- import facts ---- */

/* ---- values ---- */

static bool is_count(const char *s)
{
    int64_t v;
    return units_parse_int(s, &v) && v > 0 && v <= 1 << 20;
}

static bool is_size(const char *s)
{
    uint64_t v;
    return units_parse_size(s, &v) && v > 0 && v < (uint64_t)1 << 60;
}

static bool is_name(const char *s)
{
    return *s && !strchr(".-", *s) && strlen(s) < IMP_WORD &&
           !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=/")];
}

static bool is_folder(const char *s)
{
    return is_name(s) && !strchr(s, '/');
}

static bool is_unit(const char *s)
{
    return text_lists("s,ms,us", ",", s);
}

static const struct {
    const char *name;
    bool (*is)(const char *);
    const char *allowed;
} facts[FACTS] = {
    [FACT_PLATFORM] = {"platform", is_folder, "a name of letters, digits, '.', '_', '-'"},
    [FACT_CONFIG] = {"config", is_name, "a label, e.g. ring/LL128"},
    [FACT_MODE] = {"mode", is_name, "a name, e.g. overlapped"},
    [FACT_SIZE] = {"size", is_size, "a size, e.g. 4MiB"},
    [FACT_RANKS] = {"ranks", is_count, "a number, at least 1, e.g. 8"},
    [FACT_NODES] = {"nodes", is_count, "a number, at least 1, e.g. 2"},
    [FACT_COLLECTIVE] = {"collective", import_is_collective,
                         "a collective: allreduce, allgather, reducescatter, alltoall, broadcast, "
                         "reduce, sendrecv, gather, scatter or hypercube"},
    [FACT_UNIT] = {"unit", is_unit, "s, ms or us"},
};

int facts_set(struct facts *f, const char *key, const char *value)
{
    for (size_t i = 0; i < FACTS; i++) {
        if (strcmp(facts[i].name, key))
            continue;
        if (f->value[i])
            return fail(GS_USAGE, "import: '%s' is given twice", key);
        if (!facts[i].is(value))
            return fail(GS_USAGE, "import: %s='%s': must be %s", key, value, facts[i].allowed);
        f->value[i] = xstrdup(value);
        return GS_OK;
    }
    return fail(GS_USAGE,
                "import: no key is called '%s'%s; the keys are platform, config, mode, "
                "size, ranks, nodes, collective and unit",
                key, DID_YOU_MEAN(NEAREST(key, facts, FACTS, name)));
}

int facts_set_word(struct facts *f, const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals)
        return fail(GS_USAGE, "import: --set '%s': must be KEY=VALUE", word);
    AUTO_FREE char *key = xstrfmt("%.*s", (int)(equals - word), word);
    return facts_set(f, key, equals + 1);
}

void facts_copy(struct facts *to, const struct facts *from)
{
    for (size_t i = 0; i < FACTS; i++)
        to->value[i] = from->value[i] ? xstrdup(from->value[i]) : NULL;
}

void facts_free(struct facts *f)
{
    for (size_t i = 0; i < FACTS; i++)
        free(f->value[i]);
    *f = (struct facts){0};
}

/* ---- configs ---- */

/* The value of NCCL_ALGO ("ring") or NCCL_PROTO ("LL128") as nccl_allreduce writes it; "": not set. */
struct choice {
    char s[IMP_WORD];
};

static struct choice choice_of(const struct imp_test *t, const char *name)
{
    struct choice c;
    snprintf(c.s, sizeof c.s, "%s", json_text_of(t->settings, name));
    for (char *k = c.s; *k && !strcmp(name, "NCCL_ALGO"); k++)
        *k = (char)tolower((unsigned char)*k);
    return c;
}

static bool is_choice(const char *setting)
{
    return text_lists("NCCL_ALGO,NCCL_PROTO", ",", setting);
}

#define PART_MAX 40 /* bytes of a value in a label; a hash tells longer ones apart */

/* "ring/LL128/NCCL_NVLS_ENABLE=0": what the user says, and what of the file's settings it lacks. The
 * caller frees it. */
static char *label_of(const char *config, const struct imp_test *t)
{
    const struct choice choices[] = {choice_of(t, "NCCL_ALGO"), choice_of(t, "NCCL_PROTO")};
    AUTO_WORDS struct words names = {0};
    struct text s = {0};
    const char *key;
    json_t *v;
    text_add(&s, config && strcmp(config, "auto") ? config : "");
    for (size_t i = 0; i < COUNT(choices); i++)
        if (*choices[i].s && !(config && text_lists(config, "/", choices[i].s)))
            text_addf(&s, "%s%s", s.len ? "/" : "", choices[i].s);
    json_object_foreach(t->settings, key, v) if (!is_choice(key)) words_add(&names, key);
    words_sort(&names);
    for (size_t i = 0; i < names.n; i++) {
        char hex[65] = "";
        const char *value = json_text_of(t->settings, names.v[i]);
        if (strlen(value) > PART_MAX)
            sha256_hex(value, strlen(value), hex);
        text_addf(&s, "%s%s=%.*s%s%.6s", s.len ? "/" : "", names.v[i], PART_MAX, value,
                  *hex ? "~" : "", hex);
    }
    if (!s.len)
        text_add(&s, config ? "auto" : "unstated");
    return s.s;
}

/* ---- import run ---- */

/* NCCL's lists may have the vendor's name. */
static const char *model_of(const char *device)
{
    return device + (strncasecmp(device, "NVIDIA ", 7) ? 0 : 7);
}

static int platform_fits(const struct import_platform *p, const struct import *imp,
                         const struct imp_test *t, int64_t ranks, int64_t nodes)
{
    const struct {
        const char *what;
        int64_t ours, theirs;
    } counts[] = {{"ranks", p->set.launch.ranks, ranks}, {"nodes", p->set.launch.nodes, nodes}};
    const char *ours = p->set.platform.device;
    for (size_t i = 0; i < COUNT(counts); i++)
        if (counts[i].ours != counts[i].theirs)
            return fail_at(GS_USAGE, imp->path, 0,
                           "the file has %s %lld, but %s has %lld; name the config of that machine",
                           counts[i].what, (long long)counts[i].theirs, p->config->path,
                           (long long)counts[i].ours);
    for (size_t i = 0; *ours && i < json_array_size(t->hosts); i++) {
        const char *device = json_text_of(json_array_get(t->hosts, i), "device");
        if (*device && strcasecmp(model_of(device), model_of(ours)))
            return fail_at(GS_USAGE, imp->path, 0,
                           "the file has device %s, but %s has %s; name the config of that machine",
                           device, p->config->path, ours);
    }
    return GS_OK;
}

/* ---- a test as a launch ---- */

#define IMPORT_LABEL "imported"

struct launch {
    const struct imported *file;
    const struct imp_test *test;
    struct facts facts;
    char *config, *platform;
    char *key;       /* equal for launches of one run */
    char *cells_key; /* equal for launches with the same cells */
    char *place;     /* equal for launches on the same GPUs, with the same software */
    int64_t ranks, nodes;
    const struct launch *run; /* the first launch of its run; NULL: not written yet */
};

/* A count from the user or from the file, or `otherwise`; 0: reported. */
static int64_t count_of(const struct launch *l, enum fact fact, int64_t in_file, int64_t otherwise)
{
    const struct import *imp = l->file->imp;
    int64_t given = 0;
    if (l->facts.value[fact])
        units_parse_int(l->facts.value[fact], &given);
    if (given && in_file && given != in_file) {
        fail_at(GS_USAGE, imp->path, 0, "%s=%lld contradicts the file, which has %lld",
                facts[fact].name, (long long)given, (long long)in_file);
        return 0;
    }
    int64_t v = given ? given : in_file ? in_file : otherwise;
    if (!v)
        fail_at(GS_USAGE, imp->path, 0, "the format %s does not contain %s; add --set %s=N",
                imp->format, facts[fact].name, facts[fact].name);
    return v;
}

/* Two ranks on "NVIDIA L40S" give "l40s-2gpu"; NULL: the file does not name its devices. */
static char *platform_of(const struct imp_test *t)
{
    const char *device = json_text_of(json_array_get(t->hosts, 0), "device");
    if (!*device)
        return NULL;
    device = model_of(device);
    char *name =
        t->gpus && t->gpus < t->ranks
            ? xstrfmt("%.48s-%lldgpu-%lldranks", device, (long long)t->gpus, (long long)t->ranks)
            : xstrfmt("%.48s-%lldgpu", device, (long long)t->ranks);
    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    return name;
}

/* The GPUs of the test, in any order of its ranks. Another host or other GPUs, as another NCCL or commit,
 * are another run: their launches do not vary by chance. */
static char *place_of(const struct imp_test *t)
{
    AUTO_WORDS struct words places = {0};
    struct text s = {0};
    size_t i;
    json_t *host;
    json_array_foreach(t->hosts, i, host)
        words_addf(&places, "%s %s", json_text_of(host, "host"), json_text_of(host, "bus"));
    words_sort(&places);
    text_addf(&s, "%s\n%s", t->nccl, t->commit);
    for (i = 0; i < places.n; i++)
        text_addf(&s, "\n%s", places.v[i]);
    return s.s;
}

static char *key_of(const struct launch *l)
{
    struct text t = {0};
    text_addf(&t, "%s\n%s\n%s\n%lld\n%lld\n%s", l->platform, l->test->workload,
              l->test->collective ? l->test->collective : "", (long long)l->ranks,
              (long long)l->nodes, l->test->metric);
    for (size_t i = FACT_MODE; i < FACT_COLLECTIVE; i++)
        text_addf(&t, "\n%s", l->facts.value[i] ? l->facts.value[i] : "");
    return t.s;
}

static char *cells_key_of(const struct imp_test *t)
{
    struct text s = {0};
    text_addf(&s, "%d", t->graph);
    for (size_t i = 0; i < t->n_cells; i++) {
        const struct imp_cell *c = &t->cells[i];
        text_addf(&s, "\n%lld %s %s %lld %d %llu", (long long)c->size_B, c->dtype, c->op,
                  (long long)c->root, c->in_place, (unsigned long long)c->iters);
    }
    return s.s;
}

static int launch_make(struct launch *l, const struct imported *file, size_t test)
{
    const struct import *imp = file->imp;
    const struct import_platform *at = file->at;
    *l = (struct launch){.file = file, .test = &imp->tests[test]};
    facts_copy(&l->facts, &file->facts);
    l->config = label_of(l->facts.value[FACT_CONFIG], l->test);
    l->ranks = count_of(l, FACT_RANKS, l->test->ranks, 0);
    l->nodes = l->ranks ? count_of(l, FACT_NODES, l->test->nodes, 1) : 0;
    if (!l->nodes)
        return GS_USAGE;
    if (l->ranks == 1 && l->test->factor == IMP_ALLREDUCE)
        return fail_at(GS_USAGE, imp->path, 0,
                       "refused: an all-reduce of one rank is a copy, not a collective");
    if (at)
        CHECK(platform_fits(at, imp, l->test, l->ranks, l->nodes));
    const char *given = at ? at->set.platform.name : l->facts.value[FACT_PLATFORM];
    l->platform = given ? xstrdup(given) : platform_of(l->test);
    if (!l->platform)
        return fail_at(GS_USAGE, imp->path, 0,
                       "the format %s does not name its machine; add --platform NAME or CONFIG.ini",
                       imp->format);
    l->key = key_of(l);
    l->cells_key = cells_key_of(l->test);
    l->place = place_of(l->test);
    return GS_OK;
}

static json_t *header(const struct launch *l, const char *dir, int number)
{
    char at[32], word[17];
    const struct imp_test *t = l->test;
    const struct import *imp = l->file->imp;
    snprintf(word, sizeof word, "%.15s", imp->sha256);
    json_t *h = json_pack(
        "{ss si ss ss so so ss ss si si so sI sI sI so s{so ss ss so sI ss}}", "type", "header",
        "schema", RECORD_SCHEMA, "gradsync", GRADSYNC_VERSION, "commit", gradsync_commit, "run_id",
        json_text(path_name(dir)), "platform", json_text(l->platform), "workload", t->workload,
        "label", IMPORT_LABEL, "launch", number, "attempt", 1, "started", json_text(t->started),
        "seed", (json_int_t)strtoull(word, NULL, 16), "ranks", (json_int_t)l->ranks, "nodes",
        (json_int_t)l->nodes, "plugin", json_text(*t->tool ? t->tool : imp->format), "imported",
        "path", json_text(imp->name), "sha256", imp->sha256, "format", imp->format, "version",
        json_text(t->tool), "line", (json_int_t)t->line, "at", record_time(at, sizeof at));
    if (t->hosts)
        json_object_set(h, "hosts", t->hosts);
    return h;
}

/* The parameters of the cell, with the names of the plugins. */
static json_t *params(const struct launch *l, const struct imp_cell *c)
{
    char size[32], root[24];
    const struct choice algorithm = choice_of(l->test, "NCCL_ALGO"),
                        protocol = choice_of(l->test, "NCCL_PROTO");
    const bool nccl = !strncmp(l->test->workload, "nccl_", 5);
    snprintf(root, sizeof root, "%lld", (long long)c->root);
    const char *const rows[][2] = {
        {"size", c->size_B ? units_size(size, sizeof size, (uint64_t)c->size_B) : ""},
        {"dtype", c->dtype},
        {"op", c->op},
        {"root", c->root >= 0 ? root : ""},
        {"in_place", c->in_place < 0 ? ""
                     : c->in_place   ? "yes"
                                     : "no"},
        {"metric", l->test->metric},
        {"launch", !nccl            ? ""
                   : l->test->graph ? "graph"
                                    : "stream"},
        {"collective", l->test->collective ? l->test->collective : ""},
        {"mode", l->facts.value[FACT_MODE] ? l->facts.value[FACT_MODE] : ""},
        {"algorithm", algorithm.s},
        {"protocol", protocol.s},
    };
    json_t *o = json_object();
    for (size_t i = 0; i < COUNT(rows); i++)
        if (*rows[i][1])
            json_object_set_new(o, rows[i][0], json_text(rows[i][1]));
    const char *name;
    json_t *value;
    json_object_foreach(l->test->settings, name, value) if (!is_choice(name))
        json_object_set(o, name, value);
    return o;
}

/* The hash of the coordinates and the sorted parameters, as in plan.h. */
static void cell_id(char id[PLAN_ID], const struct launch *l, json_t *params_of_it)
{
    char hex[65];
    AUTO_WORDS struct words lines = {0};
    const char *key;
    json_t *v;
    AUTO_TEXT struct text t = {0};
    text_addf(&t, "platform=%s\nworkload=%s\nranks=%lld\nnodes=%lld\n", l->platform,
              l->test->workload, (long long)l->ranks, (long long)l->nodes);
    json_object_foreach(params_of_it, key, v)
        words_addf(&lines, "%s=%s\n", key, json_string_value(v));
    words_addf(&lines, "config=%s\n", l->config);
    words_sort(&lines);
    for (size_t i = 0; i < lines.n; i++)
        text_add(&t, lines.v[i]);
    sha256_hex(t.s, t.len, hex);
    snprintf(id, PLAN_ID, "%.*s", PLAN_ID - 1, hex);
}

/* About how many blocks a cell has at most: a reader of recordings holds all blocks of a cell. */
#define BLOCKS 4096

/* One sample a block; of very many samples, a power of two of consecutive ones. A rest of less than a
 * block goes with the last block. *blocks: their number. */
static int put_blocks(struct record *r, const struct imp_cell *c, const char *id,
                      json_int_t *blocks)
{
    char head[160];
    uint64_t size = 1;
    while (c->n_samples / size > BLOCKS)
        size *= 2;
    *blocks = 0;
    for (size_t i = 0, end; i < c->n_samples; i = end) {
        end = c->n_samples - i < 2 * size ? c->n_samples : i + size;
        snprintf(head, sizeof head,
                 "{\"type\":\"block\",\"cell\":\"%s\",\"copy\":0,\"block\":%lld,\"iters\":%llu", id,
                 (long long)++*blocks, (unsigned long long)c->iters);
        CHECK(record_block_text(r, head, c->time_ns + i, end - i));
    }
    return GS_OK;
}

static int put_cell(struct record *r, const struct launch *l, const struct imp_cell *c)
{
    char id[PLAN_ID], group[65];
    struct imp_cell sized = *c;
    json_int_t blocks;
    if (!l->test->factor && l->facts.value[FACT_SIZE])
        units_parse_size(l->facts.value[FACT_SIZE], (uint64_t *)&sized.size_B);
    if (l->test->size_of_block)
        sized.size_B *= l->ranks;
    json_t *p = params(l, &sized);
    cell_id(id, l, p);
    sha256_hex(id, strlen(id), group);
    group[PLAN_ID - 1] = '\0'; /* no other cell shares its blocks */
    const char *mode = l->facts.value[FACT_MODE];
    CHECK(record_line(r, json_pack("{ss ss ss si so so so sI sf sb sI s[] sb}", "type", "cell",
                                   "cell", id, "group", group, "copy", 0, "config",
                                   json_text(l->config), "mode", json_text(mode ? mode : ""),
                                   "params", p, "size_B", (json_int_t)sized.size_B, "busbw_factor",
                                   import_factor(l->test->factor, l->ranks), "span", 0, "iters",
                                   (json_int_t)sized.iters, "metrics", "baseline", 0)));
    CHECK(put_blocks(r, c, id, &blocks));
    if (c->kind)
        CHECK(record_line(r, json_pack("{ss ss si ss so si ss ss}", "type", "fail", "cell", id,
                                       "copy", 0, "kind", c->kind, "why", json_text(c->why), "rank",
                                       -1, "host", "", "phase", "import")));
    return record_line(r, json_pack("{ss ss sI s[{ss si sI sb sn}]}", "type", "group", "group",
                                    group, "blocks", blocks, "cells", "cell", id, "copy", 0,
                                    "blocks", blocks, "converged", 0, "half_width"));
}

static int put_launch(struct record *r, const struct launch *l, const char *dir, int number)
{
    const struct imp_test *t = l->test;
    const char *const notes[][2] = {
        {"nccl", t->nccl}, {"verified", t->unverified ? "no" : "yes"}, {"missing", t->missing}};
    CHECK(record_line(r, header(l, dir, number)));
    for (size_t i = 0; i < COUNT(notes); i++)
        if (*notes[i][1])
            CHECK(
                record_line(r, json_pack("{ss ss si ss so}", "type", "note", "cell", "", "copy", 0,
                                         "key", notes[i][0], "value", json_text(notes[i][1]))));
    for (size_t i = 0; i < t->n_cells; i++)
        CHECK(put_cell(r, l, &t->cells[i]));
    return record_end(r, *t->missing ? "interrupted" : "complete");
}

/* May the launch join the run of `lead`? A truncated launch has only some of the cells. Configs may differ:
 * compare contrasts them. What the file or its headings tell apart is no second launch of a config. */
static bool joins_run(const struct launch *all, const struct launch *lead, const struct launch *l,
                      bool as_launches)
{
    if (l->run || (l->file != lead->file && !as_launches) || strcmp(l->key, lead->key))
        return false;
    bool fits = as_launches ||
                (!strcmp(l->place, lead->place) && (*l->test->missing || *lead->test->missing ||
                                                    !strcmp(l->cells_key, lead->cells_key)));
    for (const struct launch *k = all; k < l && fits; k++) {
        if (k->run != lead || strcmp(k->config, l->config))
            continue;
        if (!as_launches)
            fits = !strcmp(k->test->heading ? k->test->heading : "",
                           l->test->heading ? l->test->heading : "");
        else if (strcmp(k->place, l->place)) {
            say("%s: warning: joined with %s, which has other GPUs, another NCCL or another commit",
                l->file->imp->path, k->file->imp->path);
            break;
        }
    }
    return fits;
}

static void tell(const struct launch *l, int number)
{
    uint64_t samples = 0;
    size_t faults = 0;
    for (size_t i = 0; i < l->test->n_cells; i++) {
        samples += l->test->cells[i].n_samples;
        faults += l->test->cells[i].kind != NULL;
    }
    say("  launch %d: %s, %zu cell%s, %llu sample%s, config %s%s%s%s", number, l->file->imp->path,
        l->test->n_cells, l->test->n_cells == 1 ? "" : "s", (unsigned long long)samples,
        samples == 1 ? "" : "s", l->config, l->test->unverified ? ", results not verified" : "",
        *l->test->missing ? "; truncated: " : "", l->test->missing);
    if (!strcmp(l->file->imp->format, IMPORT_TIMES))
        say("  times read as %s", import_unit_name(l->file->imp)); /* they name no unit */
    if (faults)
        say("  %zu cell%s a fault; 'gradsync show' names it", faults,
            faults == 1 ? " has" : "s have");
}

/* Writes the launches of a run, and their manifest. *contrast: their configs differ. */
static int fill_run(struct launch *all, size_t n, size_t first, const char *dir, bool as_launches,
                    bool *contrast)
{
    const struct launch *lead = &all[first];
    int number = 0;
    for (size_t i = first; i < n; i++)
        if (joins_run(all, lead, &all[i], as_launches)) {
            all[i].run = lead;
            struct record r;
            AUTO_FREE char *path = record_path(dir, ++number, 1, "jsonl");
            CHECK(record_create(&r, path));
            r.in_batches = true;
            int code = put_launch(&r, &all[i], dir, number), closed = record_close(&r);
            CHECK(code ? code : closed);
            *contrast = *contrast || strcmp(all[i].config, lead->config);
            tell(&all[i], number);
            for (size_t k = 0; k < all[i].test->n_cells; k++) { /* the manifest needs room, too */
                free(all[i].test->cells[k].time_ns);
                all[i].test->cells[k].time_ns = NULL;
            }
        }
    if (lead->file->at) {
        AUTO_FREE char *path = xstrfmt("%s/config.ini", dir);
        if (!files_write_new(path, lead->file->at->config->text, 0644))
            return fail_file(path, "written", errno);
    }
    return manifest_write(dir);
}

/* A run gets its name when it is whole: what a killed import leaves is in a hidden folder, which the
 * next import removes. */
static int write_run(struct launch *all, size_t n, size_t first, const char *out, bool as_launches)
{
    AUTO_FREE char *dir = NULL, *place = xstrfmt("%s/import", out);
    AUTO_FREE char *temporary = files_temporary(place);
    bool contrast = false;
    int code = record_make_run(temporary, all[first].platform, all[first].test->workload,
                               IMPORT_LABEL, &dir);
    AUTO_FREE char *run = code ? NULL : xstrfmt("%s%s", out, dir + strlen(temporary));
    if (!code)
        code = fill_run(all, n, first, dir, as_launches, &contrast);
    AUTO_FREE char *failed = code ? NULL : files_make_above(run);
    if (!code && (failed || rename(dir, run)))
        code = fail_file(failed ? failed : run, "made", errno);
    files_remove_tree(temporary);
    if (!code) {
        puts(run);
        fflush(stdout);
        say("next: gradsync %s %s", contrast ? "compare" : "show", SHELL_WORD(run));
    }
    return code;
}

int import_write(struct imported *files, size_t n, const char *out, bool as_launches)
{
    AUTO_FREE struct launch *all = NULL;
    size_t count = 0;
    int code = GS_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(files[i].imp->sha256, files[k].imp->sha256))
                return fail_at(GS_USAGE, files[i].imp->path, 0,
                               "refused: the same bytes as %s; a copy is not a second launch",
                               files[k].imp->path);
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < files[i].imp->n_tests; t++) {
            int one = launch_make(&APPEND(all, count), &files[i], t);
            code = code ? code : one;
        }
    for (size_t i = 0; i < count && !code; i++)
        if (!all[i].run)
            code = write_run(all, count, i, out, as_launches);
    for (size_t i = 0; i < count; i++) {
        facts_free(&all[i].facts);
        free(all[i].config);
        free(all[i].platform);
        free(all[i].key);
        free(all[i].cells_key);
        free(all[i].place);
    }
    return code;
}
