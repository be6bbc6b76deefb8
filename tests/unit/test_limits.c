/* SPDX-License-Identifier: Apache-2.0 */
#include "limits/audit.h"
#include "limits/limits.h"
#include "unit.h"

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
    j->n = limits_of_claim(j->config, &j->claims.v[0], j->rows);
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

TEST(measured)
{
    static const struct {
        const char *params, *ran;
        int64_t ranks;
        double time_s;
        enum limits_verdict verdict;
        double fraction; /* NAN: whatever */
    } cases[] = {
        {"size=1", NULL, 4, 1e-5, LIMIT_POSSIBLE, 0.5},
        {"size=1", NULL, 4, 4e-6, LIMIT_SWITCH, NAN}, /* too fast for a link, not for a switch */
        {"algorithm=ring", NULL, 4, 4e-6, LIMIT_IMPOSSIBLE, NAN},
        {"size=1", "RING/LL", 4, 4e-6, LIMIT_IMPOSSIBLE, NAN},
        {"algorithm=NVLS", NULL, 4, 4e-6, LIMIT_POSSIBLE, 375. / 450},
        {"size=1", NULL, 1, 4e-6, LIMIT_NO_COLLECTIVE, NAN},
    };
    struct limits_row rows[LIMITS_ROWS];
    struct judged j;
    struct measured_cell c;
    judge(&j, "ranks 8");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c = (struct measured_cell){.platform = "p",
                                   .workload = "x_allreduce",
                                   .config = "auto",
                                   .mode = "",
                                   .params = cases[i].params,
                                   .ran = cases[i].ran,
                                   .ranks = cases[i].ranks,
                                   .size_B = 1000000,
                                   .time_s = cases[i].time_s,
                                   .algbw = 1e6 / cases[i].time_s,
                                   .busbw = 1.5e6 / cases[i].time_s,
                                   .limit = 300e9};
        assert_int_equal(limits_of_cell(j.config, &c, rows), 1);
        assert_int_equal(rows[0].verdict, cases[i].verdict);
        if (!isnan(cases[i].fraction))
            near(rows[0].fraction, cases[i].fraction, 1e-9);
    }
    c.ranks = 8; /* 1.5 is of 4 ranks */
    assert_int_equal(limits_of_cell(j.config, &c, rows), 2);
    assert_int_equal(rows[1].verdict, LIMIT_IMPOSSIBLE);
    c.ranks = 4, c.limit = NAN;
    limits_of_cell(NULL, &c, rows);
    assert_int_equal(rows[0].verdict, LIMIT_NONE);
    /* 4 x 137 GFLOP in 2 ms: 275 TFLOP/s */
    c.params = "gemm=4096 gemms=4 precision=bf16", c.mode = "compute";
    c.time_s = 2e-3, c.busbw = NAN;
    assert_int_equal(limits_of_cell(j.config, &c, rows), 1);
    near(rows[0].fraction, 0.881, 0.001);
    done(&j);
}

/* The verdict on the claim of j, on a platform, by the first n of these cells. */
static enum limits_verdict data_says(const struct judged *j, const char *platform, int n,
                                     struct limits_row *row)
{
    static const char *const cells[] = {"'tree/LL', 'dtype=f algorithm=tree', 8, 1e-6",
                                        "'tree/Simple', 'dtype=f algorithm=tree', 8, 9e-6",
                                        "'ring/LL', 'dtype=f algorithm=ring', 8, 3e-6",
                                        "'tree/LL', 'dtype=f algorithm=tree', 1024, 3e-6",
                                        "'ring/LL', 'dtype=f algorithm=ring', 1024, 1.5e-6",
                                        "'ring/LL', 'dtype=g algorithm=ring', 8, 90e-6",
                                        "'ring/Simple', 'dtype=f algorithm=ring', 8, 1.1e-6"};
    struct store s;
    size_t rows;
    assert_int_equal(store_open(&s, NULL), GS_OK);
    assert_int_equal(store_make(&s, "summary", limits_reads), GS_OK);
    assert_int_equal(store_make(&s, "asked_platform", "platform,device"), GS_OK);
    for (int i = 0; i < n; i++) {
        char sql[512];
        snprintf(sql, sizeof sql,
                 "INSERT INTO summary (run_id, platform, workload, label, mode, ranks, config, "
                 "params, size_B, median_s) VALUES ('r', 'p', 'x_allreduce', '', '', 4, %s)",
                 cells[i]);
        assert_int_equal(store_execute(&s, sql), GS_OK);
    }
    assert_int_equal(limits_of_data(&s, j->config, platform, &j->claims.v[0], row, 1, &rows),
                     GS_OK);
    store_close(&s);
    return rows ? row->verdict : LIMITS_VERDICTS;
}

TEST(data_decides)
{
    struct limits_row row;
    struct judged j;
    judge(&j, "speedup 2, faster tree, slower ring");
    assert_int_equal(data_says(&j, "p", 3, &row), DATA_SUPPORTED);
    assert_float_equal(row.limit, 3, 1e-9);
    assert_int_equal(data_says(&j, "p", 6, &row), DATA_IN_PART);
    assert_non_null(strstr(row.physics, "0.5 to 3; 2 or more in 1 of 2"));
    assert_int_equal(data_says(&j, "p", 7, &row), DATA_CONTRADICTED);
    /* the claim is about other hardware: nothing contradicts it */
    assert_int_equal(data_says(&j, "another", 7, &row), DATA_ELSEWHERE);
    assert_int_equal(data_says(&j, "p", 2, &row), LIMITS_VERDICTS);
    done(&j);
}
