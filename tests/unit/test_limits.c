/* SPDX-License-Identifier: Apache-2.0 */

#include "base/err.h"

#include "limits/audit.h"
#include "limits/limits.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char limits_text[] = "[limits]\n"
                                  "busbw = 300GB/s\n"
                                  "link = 300GB/s\n"
                                  "memory = 2TB/s\n"
                                  "flops = 156e12\n"
                                  "flops.bf16 = 312e12\n"
                                  "flops.bf16.source = sheet\n"
                                  "source = s\n"
                                  "[reference]\n"
                                  "source = README\n";

struct judged {
    struct config *config;
    struct claims claims;
    struct limits_row rows[LIMITS_ROWS];
    size_t n;
};

static struct measured_cell nothing;
static const struct measured_cells none = {&nothing, 0};

/* What becomes of one claim with these quantities. */
static void judge(struct judged *j, const char *given)
{
    char text[2048];
    int n =
        snprintf(text, sizeof text, "%sclaim.c = words\nclaim.c.given = %s\n", limits_text, given);
    assert_int_equal(config_from_text(&j->config, "c.ini", text, (size_t)n, NULL), GS_OK);
    assert_int_equal(claims_read(&j->claims, j->config), GS_OK);
    assert_int_equal(j->claims.n, 1);
    assert_string_equal(j->claims.v[0].source, "README");
    j->n = limits_of_claim(&(struct audit){j->config, NULL, &none}, &j->claims.v[0], j->rows);
}

static void done(struct judged *j)
{
    claims_free(&j->claims);
    config_free(j->config);
}

/* The claim has one row of this quantity, with this verdict and fraction. */
static void expect(const char *given, const char *quantity, enum limits_verdict verdict,
                   double fraction)
{
    struct judged j;
    const struct limits_row *row = NULL;
    judge(&j, given);
    for (size_t i = 0; i < j.n; i++)
        if (!strcmp(j.rows[i].quantity, quantity))
            row = &j.rows[i];
    if (!row) {
        fail_msg("'%s' gives no row of %s", given, quantity);
        return;
    }
    assert_string_equal(limits_verdicts[row->verdict], limits_verdicts[verdict]);
    if (!isnan(fraction))
        assert_true(fabs(row->fraction / fraction - 1) < 0.005);
    assert_true(*row->physics && *row->limit_source);
    done(&j);
}

TEST(bandwidth)
{
    expect("busbw 168GB/s, ranks 8", "busbw", LIMIT_POSSIBLE, 0.56);
    expect("busbw 290GB/s, ranks 8", "busbw", LIMIT_AT, 0.967);
    expect("busbw 301GB/s, ranks 8", "busbw", LIMIT_AT, 1.003);
    expect("busbw 850GB/s, ranks 8", "busbw", LIMIT_IMPOSSIBLE, 2.833);
    expect("busbw 318GB/s, ranks 8", "busbw", LIMIT_SWITCH, 1.06);
    expect("busbw 526GB/s, ranks 8", "busbw", LIMIT_SWITCH, 1.753);
    expect("busbw 530GB/s, ranks 8", "busbw", LIMIT_IMPOSSIBLE, 1.767);
    expect("busbw 318GB/s, ranks 2", "busbw", LIMIT_IMPOSSIBLE, 1.06);
    expect("busbw 850GB/s, of_peak 66%", "peak implied", LIMIT_IMPOSSIBLE, 4.293);
    expect("busbw 850GB/s, ranks_recorded 1", "ranks", LIMIT_NO_COLLECTIVE, (double)NAN);
    expect("ranks_recorded 1", "ranks", LIMIT_NO_COLLECTIVE, (double)NAN);
}

TEST(arithmetic)
{
    expect("busbw 449.515GB/s, algbw 239.742GB/s, ranks 16", "busbw/algbw", LIMIT_POSSIBLE, 1);
    expect("busbw 449.515GB/s, algbw 239.742GB/s, ranks 8", "busbw/algbw", LIMIT_IMPOSSIBLE,
           1.0714);
    expect("algbw 100GB/s, size 1GB, time 10ms", "algbw", LIMIT_POSSIBLE, 1);
    expect("algbw 100GB/s, size 1GB, time 1ms", "algbw", LIMIT_IMPOSSIBLE, 0.1);
    expect("tokens 100e9, tokens_per_s 840e3, duration 33h", "duration", LIMIT_POSSIBLE, 0.998);
    expect("tokens 100e9, tokens_per_s 840e3, duration 20h", "duration", LIMIT_IMPOSSIBLE, 0.605);
    expect("tokens_per_s 840e3, step_tokens 524288, step_time 30s", "tokens/s", LIMIT_IMPOSSIBLE,
           48.07);
}

TEST(training)
{
    expect("tokens_per_s 150e3, parameters 1.3e9, gpus 1", "FLOP rate of a GPU", LIMIT_IMPOSSIBLE,
           3.75);
    expect("tokens_per_s 150e3, parameters 1.3e9, gpus 8", "FLOP rate of a GPU", LIMIT_POSSIBLE,
           0.469);
    expect("tokens_per_s 150e3, parameters 1.3e9, gpus 8, precision tf32", "FLOP rate of a GPU",
           LIMIT_POSSIBLE, 0.9375);
    expect("tokens_per_s 150e3, parameters 1.3e9, gpus 8, precision int4", "FLOP rate of a GPU",
           LIMIT_NONE, (double)NAN);
    expect("speedup 3, faster tree, slower ring, ranks 8", "speedup", LIMIT_IMPOSSIBLE, 9. / 7);
    expect("speedup 2, faster tree, slower ring, ranks 8", "speedup", LIMIT_POSSIBLE, 6. / 7);
    expect("faster Simple, slower auto, launches 1", "launches", DATA_UNSUPPORTED, (double)NAN);
}

static struct measured_cell cell(char *config, char *params, int64_t size, double time)
{
    static char platform[] = "p", workload[] = "x_allreduce", empty[] = "", run[] = "r";
    return (struct measured_cell){.platform = platform,
                                  .workload = workload,
                                  .label = empty,
                                  .config = config,
                                  .mode = empty,
                                  .params = params,
                                  .run_id = run,
                                  .ranks = 4,
                                  .size_B = size,
                                  .time_s = time,
                                  .algbw = (double)size / time,
                                  .busbw = 1.5 * (double)size / time,
                                  .limit = 300e9};
}

TEST(measured)
{
    char config[] = "auto", plain[] = "size=1", nvls[] = "algorithm=NVLS",
         ring[] = "algorithm=ring", ran[] = "RING/LL", compute[] = "compute",
         gemm[] = "gemm=4096 gemms=4 precision=bf16";
    struct limits_row rows[LIMITS_ROWS];
    struct judged j;
    judge(&j, "ranks 8");
    struct measured_cell c = cell(config, plain, 1000000, 1e-5); /* 150 GB/s of busbw */
    assert_int_equal(limits_of_cell(j.config, &c, rows), 1);
    assert_int_equal(rows[0].verdict, LIMIT_POSSIBLE);
    assert_float_equal(rows[0].fraction, 0.5, 1e-9);
    c = cell(config, plain, 1000000, 4e-6); /* 375: too fast for the link, not for the switch */
    limits_of_cell(j.config, &c, rows);
    assert_int_equal(rows[0].verdict, LIMIT_SWITCH);
    c.params = ring;
    limits_of_cell(j.config, &c, rows);
    assert_int_equal(rows[0].verdict, LIMIT_IMPOSSIBLE);
    c.params = plain;
    c.ran = ran;
    limits_of_cell(j.config, &c, rows);
    assert_int_equal(rows[0].verdict, LIMIT_IMPOSSIBLE);
    c.ran = NULL;
    c.params = nvls;
    limits_of_cell(j.config, &c, rows);
    assert_int_equal(rows[0].verdict, LIMIT_POSSIBLE);
    assert_float_equal(rows[0].limit, 450e9, 1);
    c.ranks = 1;
    limits_of_cell(j.config, &c, rows);
    assert_int_equal(rows[0].verdict, LIMIT_NO_COLLECTIVE);
    c.ranks = 8; /* 1.5 is of 4 ranks */
    assert_int_equal(limits_of_cell(j.config, &c, rows), 2);
    assert_int_equal(rows[1].verdict, LIMIT_IMPOSSIBLE);
    c = cell(config, plain, 1000000, 1e-5);
    c.limit = NAN;
    limits_of_cell(NULL, &c, rows);
    assert_int_equal(rows[0].verdict, LIMIT_NONE);
    c = cell(config, gemm, 1000000, 2e-3); /* 4 x 137 GFLOP in 2 ms: 275 TFLOP/s */
    c.mode = compute;
    c.busbw = NAN;
    assert_int_equal(limits_of_cell(j.config, &c, rows), 1);
    assert_float_equal(rows[0].fraction, 0.881, 0.001);
    done(&j);
}

TEST(data_decides)
{
    char tree[] = "tree/LL", slow_tree[] = "tree/Simple", ring[] = "ring/LL",
         p[] = "dtype=f algorithm=tree", q[] = "dtype=f algorithm=ring",
         other[] = "dtype=g algorithm=ring";
    struct limits_row rows[4];
    struct judged j;
    judge(&j, "speedup 2, faster tree, slower ring");
    struct measured_cell v[] = {cell(tree, p, 8, 1e-6),      cell(slow_tree, p, 8, 9e-6),
                                cell(ring, q, 8, 3e-6),      cell(tree, p, 1024, 3e-6),
                                cell(ring, q, 1024, 1.5e-6), cell(ring, other, 8, 90e-6)};
    struct measured_cells cells = {v, 3};
    struct audit a = {j.config, v[0].platform, &cells};
    assert_int_equal(limits_of_data(&a, &j.claims.v[0], rows, 4), 1);
    assert_int_equal(rows[0].verdict, DATA_SUPPORTED);
    assert_float_equal(rows[0].limit, 3, 1e-9);
    cells.n = 6;
    assert_int_equal(limits_of_data(&a, &j.claims.v[0], rows, 4), 1);
    assert_int_equal(rows[0].verdict, DATA_IN_PART);
    assert_non_null(strstr(rows[0].physics, "0.5 to 3; 2 or more in 1 of 2"));
    v[2].time_s = 1.1e-6;
    limits_of_data(&a, &j.claims.v[0], rows, 4);
    assert_int_equal(rows[0].verdict, DATA_CONTRADICTED);
    a.platform = "another"; /* the claim is about other hardware: nothing contradicts it */
    assert_int_equal(limits_of_data(&a, &j.claims.v[0], rows, 4), 1);
    assert_int_equal(rows[0].verdict, DATA_ELSEWHERE);
    cells.n = 2;
    assert_int_equal(limits_of_data(&a, &j.claims.v[0], rows, 4), 0);
    done(&j);
}
