/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as the claims and the published numbers of a config, held against its own limits and
 * against a few measured cells: what is not refused has verdicts that can be written.
 */
#include "base/err.h"
#include "base/text.h"
#include "config/config.h"
#include "config/settings.h"
#include "limits/audit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char platform[] = "p", other[] = "q", workload[] = "null", ring[] = "ring/LL",
            tree[] = "tree", none[] = "", compute[] = "compute", run[] = "r",
            params_ring[] = "size=8 algorithm=ring protocol=LL",
            params_tree[] = "size=8 algorithm=tree",
            params_gemm[] = "size=8 gemm=4096 gemms=2 precision=tf32";

static struct measured_cell cells[] = {
    {platform, workload, none, ring, none, params_ring, run, 4, 8, 2e-5, 4e5, 6e5, 1e9, NULL, NULL},
    {platform, workload, none, tree, none, params_tree, run, 4, 8, 1e-5, 8e5, 12e5, NAN, NULL,
     NULL},
    {platform, workload, none, tree, compute, params_gemm, run, 4, 8, 1e-3, NAN, NAN, NAN, NULL,
     NULL},
    {other, workload, none, tree, none, params_tree, run, 1, 8, 1e-5, 8e5, 12e5, NAN, NULL, NULL},
};
static const struct measured_cells measured = {cells, sizeof cells / sizeof *cells};

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
    const struct audit a = {c, platform, &measured};
    struct limits_row *rows = xcalloc(LIMITS_ROWS, sizeof *rows);
    for (size_t i = 0; i < claims->n; i++) {
        check(rows, limits_of_claim(&a, &claims->v[i], rows));
        check(rows, limits_of_data(&a, &claims->v[i], rows, LIMITS_ROWS));
    }
    for (size_t i = 0; i < measured.n; i++)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

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
