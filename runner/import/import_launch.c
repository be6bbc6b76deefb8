/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_launch.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A count from the user or from the file, or `otherwise`; 0: reported. */
static int64_t count_of(const struct import_launch *l, enum fact fact, int64_t in_file,
                        int64_t otherwise)
{
    const struct import *imp = l->file->imp;
    int64_t given = 0;
    if (l->facts.value[fact])
        units_parse_int(l->facts.value[fact], &given);
    if (given && in_file && given != in_file) {
        fail_at(GS_USAGE, imp->path, 0, "%s=%lld contradicts the file, which has %lld",
                fact_names[fact], (long long)given, (long long)in_file);
        return 0;
    }
    int64_t v = given ? given : in_file ? in_file : otherwise;
    if (!v)
        fail_at(GS_USAGE, imp->path, 0, "the format %s does not contain %s; add --set %s=N",
                imp->format, fact_names[fact], fact_names[fact]);
    return v;
}

/* Two ranks on "NVIDIA L40S" give "l40s-2gpu"; NULL: the file does not name its devices. */
static char *platform_of(const struct imp_test *t)
{
    const char *device = json_text_of(json_array_get(t->hosts, 0), "device");
    if (!*device)
        return NULL;
    device += strncmp(device, "NVIDIA ", 7) ? 0 : 7;
    char *name = xstrfmt("%.48s-%lldgpu", device, (long long)t->ranks);
    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    return name;
}

static char *key_of(const struct import_launch *l)
{
    struct text t = {0};
    text_addf(&t, "%s\n%s\n%lld\n%lld\n%s", l->platform, l->test->workload, (long long)l->ranks,
              (long long)l->nodes, l->test->metric);
    for (size_t i = FACT_CONTENTION; i < FACT_UNIT; i++)
        text_addf(&t, "\n%s", l->facts.value[i] ? l->facts.value[i] : "");
    return t.s;
}

static char *cells_key_of(const struct imp_test *t)
{
    AUTO_TEXT struct text s = {0};
    text_addf(&s, "%d", t->graph);
    for (size_t i = 0; i < t->n_cells; i++) {
        const struct imp_cell *c = &t->cells[i];
        text_addf(&s, "\n%lld %s %s %lld %d %llu", (long long)c->size_B, c->dtype, c->op,
                  (long long)c->root, c->in_place, (unsigned long long)c->iters);
    }
    char hex[65];
    sha256_hex(s.s, s.len, hex);
    return xstrdup(hex);
}

int import_launch_make(struct import_launch *l, const struct imported *file, size_t test)
{
    const struct import *imp = file->imp;
    const struct import_platform *at = file->at;
    *l = (struct import_launch){.file = file, .test = &imp->tests[test]};
    facts_copy(&l->facts, &file->facts);
    int code = facts_config(&l->facts, l->test, imp->path, &l->config);
    if (code)
        return code;
    l->ranks = count_of(l, FACT_RANKS, l->test->ranks, 0);
    l->nodes = l->ranks ? count_of(l, FACT_NODES, l->test->nodes, 1) : 0;
    if (!l->nodes)
        return GS_USAGE;
    if (l->ranks == 1 && l->test->factor == IMP_ALLREDUCE)
        return fail_at(GS_USAGE, imp->path, 0,
                       "refused: an all-reduce of one rank is a copy, not a collective");
    if (at && (code = import_platform_fits(at, imp, l->test, l->ranks, l->nodes)))
        return code;
    const char *given = at ? at->set.platform.name : l->facts.value[FACT_PLATFORM];
    l->platform = given ? xstrdup(given) : platform_of(l->test);
    if (!l->platform)
        return fail_at(GS_USAGE, imp->path, 0,
                       "the format %s does not name its machine; add --platform NAME or CONFIG.ini",
                       imp->format);
    l->key = key_of(l);
    l->cells_key = cells_key_of(l->test);
    return GS_OK;
}

void import_launch_free(struct import_launch *l)
{
    facts_free(&l->facts);
    free(l->config);
    free(l->platform);
    free(l->key);
    free(l->cells_key);
}
