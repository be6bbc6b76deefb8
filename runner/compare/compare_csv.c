/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_params.h"
#include "base/err.h"
#include "base/text.h"
#include "compare/compare.h"

#include <math.h>
#include <string.h>

const char compare_columns[] =
    "platform,workload,label,run_id,mode,size_B,params,baseline,config,launches,blocks,ratio,"
    "ratio_low,ratio_high,p_permutation,p_interval,p_holm,p_holm_of,floor,equivalence,verdict,"
    "launches_needed,reason,measured_verdict,baseline_ran,ran,level,small_effect";

/* Indices of the columns. */
/* clang-format off */
enum { PLATFORM, WORKLOAD, LABEL, RUN_ID, MODE, SIZE, PARAMS, BASELINE, CONFIG, LAUNCHES, BLOCKS, RATIO,
       RATIO_LOW, RATIO_HIGH, P_PERMUTATION, P_INTERVAL, P_HOLM, P_HOLM_OF, FLOOR, EQUIVALENCE, VERDICT,
       NEEDED, REASON, MEASURED, BASELINE_RAN, RAN, LEVEL, SMALL, COLUMNS };
/* clang-format on */

/* Which tests p_holm adjusts. */
static const char holm_of_interval[] = "interval", holm_of_both[] = "both";

/* Of judgement.small + 1. */
static const char *const small_names[] = {"shorter", "", "longer"};

/* ---- written ---- */

static void write_reason(struct csv *csv, const struct contrast *c)
{
    const char *why = c->judgement.reason, *note = c->note ? c->note : "";
    AUTO_FREE char *reason = xstrfmt("%s%s%s", why, *why && *note ? "; " : "", note);
    csv_text(csv, reason);
}

void contrast_row(struct csv *csv, const struct contrast *c)
{
    const struct effect *e = &c->effect;
    CSV_TEXTS(csv, c->platform, c->workload, c->label, c->run_id, c->mode);
    csv_integer(csv, c->size_B);
    CSV_TEXTS(csv, c->params, c->baseline, c->config);
    csv_integer(csv, e->launches);
    csv_integer(csv, (int64_t)e->blocks);
    CSV_REALS(csv, exp(e->value), exp(e->lo), exp(e->hi), e->p_permutation, e->p_interval,
              c->p_holm);
    csv_text(csv, isnan(c->p_holm) ? "" : c->permuted ? holm_of_both : holm_of_interval);
    csv_real(csv, expm1(c->floor));
    csv_real(csv, c->bound);
    csv_text(csv, verdict_names[c->judgement.verdict]);
    if (c->judgement.needed >= 0)
        csv_integer(csv, c->judgement.needed);
    else
        csv_text(csv, "");
    write_reason(csv, c);
    CSV_TEXTS(csv, verdict_names[c->measured], c->baseline_ran, c->ran,
              level_names[contrast_level(c)], small_names[1 + c->judgement.small]);
}

int comparison_write(const struct comparison *c, const char *dir, const char *file)
{
    struct csv csv;
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, file);
    int code = csv_open(&csv, path);
    if (code)
        return code;
    csv_params_header(&csv, compare_columns);
    for (size_t i = 0; i < c->n; i++) {
        contrast_row(&csv, &c->v[i]);
        csv_end(&csv);
    }
    return csv_close(&csv, true);
}

/* ---- read back ---- */

/* VERDICTS: unknown. */
static enum verdict verdict_of(const char *name)
{
    enum verdict v = VERDICT_FASTER;
    while (v < VERDICTS && strcmp(verdict_names[v], name))
        v++;
    return v;
}

static void take(struct contrast *c, const struct csv_reader *r)
{
    char **const texts[] = {[PLATFORM] = &c->platform,
                            [WORKLOAD] = &c->workload,
                            [LABEL] = &c->label,
                            [RUN_ID] = &c->run_id,
                            [MODE] = &c->mode,
                            [PARAMS] = &c->params,
                            [BASELINE] = &c->baseline,
                            [CONFIG] = &c->config,
                            [BASELINE_RAN] = &c->baseline_ran,
                            [RAN] = &c->ran};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i])
            *texts[i] = xstrdup(csv_read_text(r, i));
    c->size_B = csv_read_integer(r, SIZE);
    c->bound = csv_read_real(r, EQUIVALENCE);
    c->floor = log1p(csv_read_real(r, FLOOR));
    c->p_holm = csv_read_real(r, P_HOLM);
    c->permuted = !strcmp(csv_read_text(r, P_HOLM_OF), holm_of_both);
    c->effect = (struct effect){.value = log(csv_read_real(r, RATIO)),
                                .lo = log(csv_read_real(r, RATIO_LOW)),
                                .hi = log(csv_read_real(r, RATIO_HIGH)),
                                .p_permutation = csv_read_real(r, P_PERMUTATION),
                                .p_interval = csv_read_real(r, P_INTERVAL),
                                .launches = (int)csv_read_integer(r, LAUNCHES),
                                .blocks = (size_t)csv_read_integer(r, BLOCKS)};
    c->judgement =
        (struct judgement){.verdict = verdict_of(csv_read_text(r, VERDICT)),
                           .needed = *csv_read_text(r, NEEDED) ? csv_read_integer(r, NEEDED) : -1};
    c->measured = verdict_of(csv_read_text(r, MEASURED));
    for (int i = -1; i <= 1; i++)
        if (!strcmp(csv_read_text(r, SMALL), small_names[i + 1]))
            c->judgement.small = i;
    c->no_floor =
        c->judgement.verdict != VERDICT_INCONCLUSIVE; /* it had the floor that it needed */
    if (*csv_read_text(r, REASON))
        c->note = xstrdup(csv_read_text(r, REASON));
}

/* Has the column a number? It may be empty if may_lack is set. */
static bool is_number(const struct csv_reader *r, size_t column, bool may_lack)
{
    return *csv_read_text(r, column) ? !isnan(csv_read_real(r, column)) : may_lack;
}

static int take_row(struct comparison *c, const struct csv_reader *r)
{
    static const struct {
        int column;
        bool may_lack;
    } numbers[] = {{SIZE, false},     {LAUNCHES, false},  {BLOCKS, false},       {RATIO, true},
                   {RATIO_LOW, true}, {RATIO_HIGH, true}, {P_PERMUTATION, true}, {P_INTERVAL, true},
                   {P_HOLM, true},    {FLOOR, true},      {EQUIVALENCE, false},  {NEEDED, true}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!is_number(r, (size_t)numbers[i].column, numbers[i].may_lack))
            return fail_at(GS_FAILED, r->path, (int)r->number,
                           "'%.40s' must be a number; repeat 'gradsync compare'",
                           csv_read_text(r, (size_t)numbers[i].column));
    const int verdicts[] = {VERDICT, MEASURED};
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        const char *name = csv_read_text(r, (size_t)verdicts[i]);
        if (verdict_of(name) == VERDICTS)
            return fail_at(GS_FAILED, r->path, (int)r->number,
                           "'%.40s' is not a verdict; repeat 'gradsync compare'", name);
    }
    take(comparison_append(c), r);
    return GS_OK;
}

int comparison_read(struct comparison *c, const char *path)
{
    AUTO_WORDS struct words names = {0};
    AUTO(csv_read_close) struct csv_reader r = {0};
    const char *columns[COLUMNS + 1] = {0};
    bool got = false;
    words_split(&names, compare_columns, ',');
    for (size_t i = 0; i < COLUMNS; i++)
        columns[i] = names.v[i];
    int code = csv_read_open(&r, path, columns);
    if (code)
        return code;
    if (r.n_header != COLUMNS)
        code =
            fail_at(GS_USAGE, path, 1,
                    "has other columns than compare.csv and chosen.csv; repeat 'gradsync compare'");
    while (!code && !(code = csv_read_row(&r, &got)) && got)
        code = take_row(c, &r);
    return code;
}
