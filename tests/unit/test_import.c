/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_run.h"
#include "unit.h"

#include "../../runner/import/import_nccl.c" // NOLINT(bugprone-suspicious-include)

static bool reads(struct number *x, const char *text)
{
    return number_read(x, text, text + strlen(text));
}

TEST(numbers_are_exact)
{
    static const struct {
        const char *text;
        double factor;
        uint64_t scaled;
    } cases[] = {{"9.17", 1e3, 9170},   {"0.00", 1e3, 0},
                 {"2e+06", 1, 2000000}, {"10866", 1, 10866},
                 {"0.0015", 1e3, 2},    {"0.0014", 1e3, 1},
                 {"1.25e-2", 1e3, 13},  {"7.", 10, 70},
                 {".5", 1, 1},          {"0.49999", 1, 0},
                 {"0.09", 1, 0},        {"8617.72", 1e3, 8617720},
                 {"1e-300", 1e3, 0},    {"1234567.123456789", 1e9, 1234567123456789}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct number x;
        uint64_t v = 0;
        assert_true(reads(&x, cases[i].text));
        assert_true(number_scaled(&x, cases[i].factor, &v));
        assert_int_equal(v, cases[i].scaled);
    }
}

TEST(what_is_no_number)
{
    static const char *const no[] = {"",    "-",     ".",   "e5",   "1e",
                                     "1e+", "1.2.3", "12x", "0x10", "N/A"};
    struct number x;
    uint64_t v;
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(reads(&x, no[i]));
    assert_true(reads(&x, "NaN"));
    assert_false(x.finite || number_scaled(&x, 1, &v));
    assert_true(reads(&x, "1e30"));
    assert_false(number_scaled(&x, 1, &v));
    assert_true(reads(&x, "1e999"));
    assert_false(number_scaled(&x, 1, &v));
}
