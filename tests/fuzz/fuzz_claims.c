/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the claims and the published numbers of a config, held against its own limits and
 * against a few measured cells: what is not refused has verdicts that can be written.
 */
#include "bundle.h"
#include "config/config.h"
#include "config/settings.h"
#include "limits/audit.h"

#include <math.h>

static const struct measured_cell cells[] = {
    {"p", "null", "ring/LL", "", "size=8 algorithm=ring protocol=LL", 4, 8, 2e-5, 4e5, 6e5, 1e9,
     NULL},
    {"p", "null", "tree", "", "size=8 algorithm=tree", 4, 8, 1e-5, 8e5, 12e5, NAN, NULL},
    {"p", "null", "tree", "compute", "size=8 gemm=4096 gemms=2 precision=tf32", 4, 8, 1e-3, NAN,
     NAN, NAN, NULL},
    {"q", "null", "tree", "", "size=8 algorithm=tree", 1, 8, 1e-5, 8e5, 12e5, NAN, NULL},
};
#define CELLS (sizeof cells / sizeof *cells)

/* A table with these cells. */
static struct store *summary(void)
{
    static struct store s;
    if (s.db)
        return &s;
    if (store_open(&s, NULL) || store_make(&s, "summary", limits_reads) ||
        store_make(&s, "asked_platform", "platform,device"))
        abort();
    for (size_t i = 0; i < CELLS; i++) {
        const struct measured_cell *c = &cells[i];
        char *sql = sqlite3_mprintf(
            "INSERT INTO summary (run_id, platform, workload, label, config, mode, params, ranks, "
            "size_B, median_s) VALUES ('r', %Q, %Q, '', %Q, %Q, %Q, %lld, %lld, %g)",
            c->platform, c->workload, c->config, c->mode, c->params, (long long)c->ranks,
            (long long)c->size_B, c->time_s);
        if (store_execute(&s, sql))
            abort();
        sqlite3_free(sql);
    }
    return &s;
}

static void check(const struct limits_row *rows, size_t n)
{
    if (n > LIMITS_ROWS)
        abort();
    for (size_t i = 0; i < n; i++)
        if (!rows[i].quantity || !rows[i].unit || rows[i].verdict >= LIMITS_VERDICTS ||
            !*rows[i].physics || !memchr(rows[i].physics, '\0', sizeof rows[i].physics) ||
            !memchr(rows[i].limit_source, '\0', sizeof rows[i].limit_source))
            abort();
}

static void hold(const struct config *c, const struct claims *claims)
{
    size_t n;
    struct limits_row *rows = xcalloc(LIMITS_ROWS, sizeof *rows);
    for (size_t i = 0; i < claims->n; i++) {
        check(rows, limits_of_claim(c, &claims->v[i], rows));
        if (limits_of_data(summary(), c, "p", &claims->v[i], rows, LIMITS_ROWS, &n))
            abort();
        check(rows, n);
    }
    for (size_t i = 0; i < CELLS; i++)
        check(rows, limits_of_cell(c, &cells[i], rows));
    free(rows);
}

static void parse_values(const struct config *c)
{
    for (size_t i = 0; i < c->n; i++) {
        double rate;
        if (claim_rate(c->entries[i].value, &rate) && !(rate > 0))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char error[1024] = "";
    struct config *c;
    struct claims claims;
    struct settings set;
    err_capture(error, sizeof error);
    int code = config_from_text(&c, "fuzz.ini", (const char *)data, n, NULL);
    if (!code)
        code = settings_read(c, &set);
    if (!code) {
        parse_values(c);
        code = claims_read(&claims, c);
        if (!code)
            hold(c, &claims);
        claims_free(&claims);
    }
    if (code && !*error)
        abort(); /* refused, and nobody knows why */
    config_free(c);
    err_capture(NULL, 0);
    return 0;
}
