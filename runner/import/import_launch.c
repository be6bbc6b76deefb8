/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_launch.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "record/manifest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fact that is a count: the user's, the file's, or `otherwise`; 0: reported. */
static int64_t count_of(const struct launch *l, enum fact fact, int64_t said, int64_t otherwise)
{
    int64_t given = 0;
    if (l->facts.value[fact])
        units_parse_int(l->facts.value[fact], &given);
    if (given && said && given != said) {
        fail_at(GS_USAGE, l->imp->path, 0, "%s=%lld was given, and the file says %lld",
                fact_names[fact], (long long)given, (long long)said);
        return 0;
    }
    int64_t v = given ? given : said ? said : otherwise;
    if (!v)
        fail_at(GS_USAGE, l->imp->path, 0, "%s does not say how many %s: --set %s=N",
                l->imp->format, fact_names[fact], fact_names[fact]);
    return v;
}

/* "NVIDIA L40S" twice: "l40s-2gpu"; NULL: the file does not name its devices. */
static char *platform_of(const struct imp_test *t)
{
    const char *device = json_string_value(json_object_get(json_array_get(t->hosts, 0), "device"));
    if (!device || !*device)
        return NULL;
    device += strncmp(device, "NVIDIA ", 7) ? 0 : 7;
    char *name = xstrfmt("%.48s-%lldgpu", device, (long long)t->ranks);
    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    return name;
}

static char *key_of(const struct launch *l)
{
    struct text t = {0};
    text_addf(&t, "%s\n%s\n%lld\n%lld\n%s", l->platform, l->test->workload, (long long)l->ranks,
              (long long)l->nodes, l->test->metric);
    for (size_t i = FACT_CONTENTION; i < FACT_REPLICATE; i++)
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
    char hex[65];
    sha256_hex(s.s, s.len, hex);
    text_free(&s);
    return xstrdup(hex);
}

int launch_know(struct launch *l, const struct imported *file, size_t index, size_t test)
{
    *l = (struct launch){.imp = file->imp, .test = &file->imp->tests[test], .file = index};
    facts_copy(&l->facts, &file->facts);
    int code = facts_config(&l->facts, l->test, l->imp->path, &l->config);
    if (code)
        return code;
    l->ranks = count_of(l, FACT_RANKS, l->test->ranks, 0);
    l->nodes = count_of(l, FACT_NODES, l->test->nodes, 1);
    if (!l->ranks || !l->nodes)
        return GS_USAGE;
    if (l->ranks == 1 && l->test->factor == IMP_ALLREDUCE)
        return fail_at(GS_USAGE, l->imp->path, 0,
                       "refused: an all-reduce of one rank is a copy, not a collective");
    l->at = file->at;
    if (l->at && (code = import_platform_fits(l->at, l->imp, l->test, l->ranks, l->nodes)))
        return code;
    const char *given = l->at ? l->at->set.platform.name : l->facts.value[FACT_PLATFORM];
    l->platform = given ? xstrdup(given) : platform_of(l->test);
    if (!l->platform)
        return fail_at(GS_USAGE, l->imp->path, 0,
                       "%s does not say where it was measured: --platform NAME, or its config",
                       l->imp->format);
    l->key = key_of(l);
    l->cells_key = cells_key_of(l->test);
    return GS_OK;
}

void launch_forget(struct launch *l)
{
    facts_free(&l->facts);
    free(l->config);
    free(l->platform);
    free(l->key);
    free(l->cells_key);
}
