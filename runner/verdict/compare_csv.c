/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"
#include "csv.h"
#include "csv_read.h"
#include "err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char compare_columns[] =
    "platform,workload,label,run_id,mode,size_B,params,baseline,config,launches,blocks,ratio,"
    "ratio_low,ratio_high,p,p_holm,floor,equivalence,verdict,launches_needed,reason";

/* Their places there. */
enum {
    PLATFORM,
    WORKLOAD,
    LABEL,
    RUN_ID,
    MODE,
    SIZE,
    PARAMS,
    BASELINE,
    CONFIG,
    LAUNCHES,
    BLOCKS,
    RATIO,
    RATIO_LOW,
    RATIO_HIGH,
    P,
    P_HOLM,
    FLOOR,
    EQUIVALENCE,
    VERDICT,
    NEEDED,
    REASON,
    COLUMNS
};

/* ---- written ---- */

static void write_reason(struct csv *csv, const struct contrast *c)
{
    const char *why = c->judgement.reason, *note = c->note ? c->note : "";
    char *reason = xstrfmt("%s%s%s", why, *why && *note ? "; " : "", note);
    csv_text(csv, reason);
    free(reason);
}

void contrast_row(struct csv *csv, const struct contrast *c)
{
    const char *const texts[] = {c->platform, c->workload, c->label, c->run_id, c->mode};
    const struct effect *e = &c->effect;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        csv_text(csv, texts[i]);
    csv_integer(csv, c->size_B);
    csv_text(csv, c->params);
    csv_text(csv, c->baseline);
    csv_text(csv, c->config);
    csv_integer(csv, e->launches);
    csv_integer(csv, (int64_t)e->blocks);
    const double numbers[] = {exp(e->value), exp(e->lo),      exp(e->hi), e->p,
                              c->p_holm,     expm1(c->floor), c->bound};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        csv_real(csv, numbers[i]);
    csv_text(csv, verdict_names[c->judgement.verdict]);
    if (c->judgement.needed >= 0)
        csv_integer(csv, c->judgement.needed);
    else
        csv_text(csv, "");
    write_reason(csv, c);
}

int comparison_write(const struct comparison *c, const char *dir, const char *file)
{
    struct csv csv;
    char *path = xstrfmt("%s/%s", dir, file);
    int code = csv_open(&csv, path);
    free(path);
    if (code)
        return code;
    csv_header(&csv, compare_columns);
    for (size_t i = 0; i < c->n; i++) {
        contrast_row(&csv, &c->v[i]);
        csv_end(&csv);
    }
    return csv_close(&csv, true);
}

/* ---- read back ---- */

static enum verdict verdict_of(const char *name)
{
    enum verdict v = VERDICT_FASTER;
    while (v < VERDICT_INCONCLUSIVE && strcmp(verdict_names[v], name))
        v++;
    return v;
}

static void take(void *comparison, const struct csv_reader *r)
{
    struct contrast *c = comparison_append(comparison);
    char **const texts[] = {
        [PLATFORM] = &c->platform, [WORKLOAD] = &c->workload, [LABEL] = &c->label,
        [RUN_ID] = &c->run_id,     [MODE] = &c->mode,         [PARAMS] = &c->params,
        [BASELINE] = &c->baseline, [CONFIG] = &c->config};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i])
            *texts[i] = xstrdup(csv_read_text(r, i));
    c->size_B = csv_read_integer(r, SIZE);
    c->bound = csv_read_real(r, EQUIVALENCE);
    c->floor = log1p(csv_read_real(r, FLOOR));
    c->p_holm = csv_read_real(r, P_HOLM);
    c->effect = (struct effect){.value = log(csv_read_real(r, RATIO)),
                                .lo = log(csv_read_real(r, RATIO_LOW)),
                                .hi = log(csv_read_real(r, RATIO_HIGH)),
                                .p = csv_read_real(r, P),
                                .launches = (int)csv_read_integer(r, LAUNCHES),
                                .blocks = (size_t)csv_read_integer(r, BLOCKS)};
    c->judgement =
        (struct judgement){.verdict = verdict_of(csv_read_text(r, VERDICT)),
                           .needed = *csv_read_text(r, NEEDED) ? csv_read_integer(r, NEEDED) : -1};
    if (*csv_read_text(r, REASON))
        c->note = xstrdup(csv_read_text(r, REASON));
}

int comparison_read(struct comparison *c, const char *path)
{
    struct words names;
    const char *columns[COLUMNS + 1] = {0};
    words_split(&names, compare_columns, ',');
    for (size_t i = 0; i < COLUMNS; i++)
        columns[i] = names.v[i];
    int code = csv_read_each(path, columns, take, c);
    words_free(&names);
    return code;
}
