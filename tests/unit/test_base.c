/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/family.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/units.h"
#include "folder.h"

#include <limits.h>
#include <sodium.h>
#include <sys/mman.h>

#define N(a) (sizeof(a) / sizeof *(a))

TEST(sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"8", 8},
                {"64KiB", 65536},
                {"64 KiB", 65536},
                {"128MiB", 134217728},
                {"1GB", 1000000000},
                {"1.5KiB", 1536},
                {"0.5kB", 500},
                {"8B", 8},
                {"18446744073709551615", UINT64_MAX},
                {"16777215TiB", 16777215ull << 40}};
    static const char *const bad[] = {
        "",      "-8",   "8M",  "128K",        "8 bytes", "1.5",
        "1e6",   "KiB",  "8kb", "0.1KiB",      "8.",      "18446744073709551616",
        "0x10B", "8 8B", "1.B", "16777216TiB", " 8"};
    uint64_t v;
    for (size_t i = 0; i < N(good); i++) {
        assert_true(units_parse_size(good[i].text, &v));
        assert_int_equal(v, good[i].bytes);
    }
    for (size_t i = 0; i < N(bad); i++)
        if (units_parse_size(bad[i], &v))
            fail_msg("'%s' is taken for %llu bytes", bad[i], (unsigned long long)v);
}

TEST(integers)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"3", 3},
                {"-3", -3},
                {"+3", 3},
                {"4k", 4000},
                {"1M", 1000000},
                {"1.5k", 1500},
                {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {
        "", "k", "1.5", "3ki", "--3", "+-3", "1e3", "9223372036854775808", "10000000000G"};
    int64_t v;
    for (size_t i = 0; i < N(good); i++) {
        assert_true(units_parse_int(good[i].text, &v));
        assert_int_equal(v, good[i].value);
    }
    for (size_t i = 0; i < N(bad); i++)
        if (units_parse_int(bad[i], &v))
            fail_msg("'%s' is taken for %lld", bad[i], (long long)v);
}

struct real {
    const char *text;
    double value;
};

static void check_reals(bool (*parse)(const char *, double *), const struct real *good, size_t n,
                        const char *const *bad, size_t m)
{
    double v;
    for (size_t i = 0; i < n; i++) {
        if (!parse(good[i].text, &v))
            fail_msg("'%s' is refused", good[i].text);
        assert_true(v == good[i].value); /* the nearest double, not one beside it */
    }
    for (size_t i = 0; i < m; i++)
        if (parse(bad[i], &v))
            fail_msg("'%s' is taken for %g", bad[i], v);
}

TEST(reals)
{
    static const struct real times[] = {{"3us", 3e-6},    {"200ms", 0.2},      {"1.5s", 1.5},
                                        {"2min", 120},    {"1h", 3600},        {"0.25", 0.25},
                                        {"1e-3 s", 1e-3}, {"7 \u00b5s", 7e-6}, {"0.3ms", 3e-4}};
    static const char *const no_times[] = {"",    "-1s", "3 m",   "us",    "1S",
                                           "inf", "nan", "0x1p3", "1e999", "1,5s"};
    check_reals(units_parse_time, times, N(times), no_times, N(no_times));
    static const struct real rates[] = {
        {"900GB/s", 9e11},      {"25Gbit/s", 3.125e9}, {"100Mbps", 1.25e7}, {"400Gb/s", 5e10},
        {"1GiB/s", 1073741824}, {"354GBps", 354e9},    {"5e9", 5e9}};
    static const char *const no_rates[] = {"", "900GB", "-1GB/s", "1gB/s", "1XB/s", "1GB/h"};
    check_reals(units_parse_rate, rates, N(rates), no_rates, N(no_rates));
    static const struct real numbers[] = {
        {"0.97", 0.97}, {"5%", 0.05}, {"1e-3", 1e-3}, {"-2", -2}, {".5", 0.5}};
    static const char *const no_numbers[] = {"", "%", "1 2", "1k", "nan", "-inf", "."};
    check_reals(units_parse_real, numbers, N(numbers), no_numbers, N(no_numbers));
}

/* Whatever is written reads back as the same value. */
TEST(round_trips)
{
    uint64_t x = 88172645463325252ull;
    char buf[64];
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17; /* xorshift64, Marsaglia 2003 */
        uint64_t size = x >> (i % 64), size_back;
        double v = ldexp((double)(x >> 11), -(i % 90)), back;
        assert_true(units_parse_size(units_size(buf, sizeof buf, size), &size_back));
        assert_int_equal(size, size_back);
        assert_true(units_parse_time(units_time(buf, sizeof buf, v), &back) && back == v);
        assert_true(units_parse_rate(units_rate(buf, sizeof buf, v), &back) && back == v);
        assert_true(strtod(units_double(buf, sizeof buf, v), NULL) == v);
    }
}

/* ---- clock ---- */

/* A clock that stands still for three readings, then moves by 250 ns; once by much more. */
static uint64_t coarse(void)
{
    static uint64_t reads;
    reads++;
    return reads / 4 * 250 + (reads > 5000 ? 1000000 : 0);
}

TEST(the_step_of_a_coarse_clock_is_found)
{
    assert_int_equal(clock_step_ns(coarse), 250);
}

TEST(iterations_grow_until_the_sample_is_long_enough)
{
    const uint64_t each_ns = 37, target_ns = 25000;
    unsigned iters = clock_iterations(0, 0, target_ns, 0, 0);
    assert_int_equal(iters, 1);
    for (int i = 0; i < 6; i++)
        iters = clock_iterations(iters, iters * each_ns, target_ns, 0, 0);
    assert_true(iters * each_ns >= target_ns);
    assert_true(iters * each_ns < 2 * target_ns);
    assert_int_equal(clock_iterations(iters, iters * each_ns, target_ns, 0, 0), iters);
}

TEST(an_offset_is_that_of_the_fastest_answer)
{
    /* Their clock is 5000 ns ahead; ways there and back of 10/10, 300/20 and 15/400 ns. */
    const struct clock_probe probes[] = {
        {1000, 6300, 1320}, {2000, 7010, 2020}, {3000, 8015, 3415}};
    uint64_t error_ns;
    assert_int_equal(clock_offset_ns(probes, 3, &error_ns), 5000);
    assert_int_equal(error_ns, 10);
}

/* ---- secrets ---- */

static const struct {
    char *(*hide)(const char *);
    const char *text, *shown; /* NULL: as it is */
} texts[] = {
#define HIDE secrets_hidden
    {HIDE, "env WANDB_API_KEY=hunter2 x", "env WANDB_API_KEY=(hidden) x"},
    {HIDE, "HF_TOKEN=hunter2 x", "HF_TOKEN=(hidden) x"},
    {HIDE, "run --token hunter2 --n 3", "run --token (hidden) --n 3"},
    {HIDE, "run -token hunter2", "run -token (hidden)"},
    {HIDE, "run --auth-token=hunter2", "run --auth-token=(hidden)"},
    {HIDE, "run --password 'a b' c", "run --password '(hidden)' c"},
    {HIDE, "run --wandb.api_key hunter2", "run --wandb.api_key (hidden)"},
    {HIDE, "run +logger.token=hunter2", "run +logger.token=(hidden)"},
    {HIDE, "-x AWS_CREDENTIALS=hunter2,-x A=1", "-x AWS_CREDENTIALS=(hidden),-x A=1"},
    {HIDE, "curl -H 'Authorization: Bearer hunter2' x", "curl -H 'Authorization: (hidden)' x"},
    {HIDE, "curl -H X-Auth:hunter2 x", "curl -H X-Auth:(hidden) x"},
    {HIDE, "curl -u me:hunter2 x", "curl -u me:(hidden) x"},
    {HIDE, "sshpass -p hunter2 ssh x", "sshpass -p (hidden) ssh x"},
    {HIDE, "run --password:hunter2", "run --password:(hidden)"},
    {HIDE, "https://me:hunter2@host/x", "https://me:(hidden)@host/x"},
    {HIDE, "https://hunter2hunter2hunter2@host/x", "https://(hidden)@host/x"},
    {HIDE, "login hf_abcdefghijklmnopqrstuvwxyz", "login (hidden)"},
    {HIDE, "docker run a:b A_TOKEN=hunter2", "docker run a:b A_TOKEN=(hidden)"},
    {HIDE, "https://host:80/x", NULL},
    {HIDE, "ssh://git@host/x", NULL},
    {HIDE, "env KEY_FILE=/x y", NULL},
    {HIDE, "export A_KEY=$(cat x)", NULL},
    {HIDE, "run --tokens --n 3", NULL},
    {HIDE, "run --max_tokens 1048576 --pad_token 0 --passes 3 --use_auth_token true", NULL},
    {HIDE, "a=b c=d", NULL},
    {HIDE, "", NULL},
#undef HIDE
#define HIDE secrets_hidden_config
    {HIDE, "launch:prefix=env MY_PASSWORD=hunter2", "launch:prefix=env MY_PASSWORD=(hidden)"},
    {HIDE, "launch:prefix=A_KEY=hunter2 x", "launch:prefix=A_KEY=(hidden) x"},
    {HIDE, "[launch]\nprefix = env A_KEY=hunter2\n", "[launch]\nprefix = env A_KEY=(hidden)\n"},
    {HIDE, "[launch]\nprefix = env \\\n  A_KEY=hunter2\n",
     "[launch]\nprefix = env \\\n  A_KEY=(hidden)\n"},
    {HIDE, "# export A_KEY=hunter2\n[a]\n", "# export A_KEY=(hidden)\n[a]\n"},
    {HIDE, "wan_sync:secret_file=/home/me/x", NULL},
    {HIDE, "[wan_sync]\nsecret_file = x\n", NULL},
    {HIDE, "[x]\nkey = value\n", NULL},
    {HIDE, "measure:passes=3", NULL},
#undef HIDE
#define HIDE secrets_hidden_log
    {HIDE, "MY_TOKEN=hunter2", "MY_TOKEN=(hidden)"},
    {HIDE, "DB_PASSWORD=a,b;c d", "DB_PASSWORD=(hidden)"},
    {HIDE, "declare -x MY_TOKEN=\"hunter2\"", "declare -x MY_TOKEN=\"(hidden)\""},
    {HIDE, "Authorization: Bearer hunter2, 200 OK", "Authorization: (hidden), 200 OK"},
    {HIDE, "{\"api_key\": \"hunter 2\", \"lr\": 0.1}", "{\"api_key\": \"(hidden)\", \"lr\": 0.1}"},
    {HIDE, "{\\\"api_key\\\": \\\"hunter2\\\"}", "{\\\"api_key\\\": \\\"(hidden)\\\"}"},
    {HIDE, "environ({'A': 'b', 'HF_TOKEN': 'hunter2'})",
     "environ({'A': 'b', 'HF_TOKEN': '(hidden)'})"},
    {HIDE, "Namespace(lr=1, token='hunter2')", "Namespace(lr=1, token='(hidden)')"},
    {HIDE, "  token : hunter2", "  token : (hidden)"},
    {HIDE, "api_key = hunter2", "api_key = (hidden)"},
    {HIDE, "the key is envvalue123", "the key is (hidden)"},
    {HIDE, "the other is hunter2cmd", "the other is (hidden)"},
    {HIDE, "[('A', 'b'), ('HF_TOKEN', 'hunter2')]", "[('A', 'b'), ('HF_TOKEN', '(hidden)')]"},
    {HIDE, "HF_TOKEN   hunter2", "HF_TOKEN   (hidden)"},
    {HIDE, "setenv HF_TOKEN hunter2", "setenv HF_TOKEN (hidden)"},
    {HIDE, "Config(api_key=Secret('hunter2'), lr=1)", "Config(api_key=(hidden)), lr=1)"},
    {HIDE, "api_keys=['hunter2', 'hunter3'], lr=1", "api_keys=(hidden)], lr=1"},
    {HIDE, "redis://:hunter2@h postgresql+psycopg://u:h@nter@h/",
     "redis://:(hidden)@h postgresql+psycopg://u:(hidden)@h/"},
    {HIDE, "keys: 3 items, KEY POINTS ARE HERE", NULL},
    {HIDE, "KeyError: 'model.weight'", NULL},
    {HIDE, "  File \"auth.py\", auth.py:12: fault", NULL},
    {HIDE, "Auth::login 12 passed: 3 tokens/s: 512, tokens_per_s=1200.5", NULL},
    {HIDE, "if key == 'a'", NULL},
    {HIDE, "iter 10: loss 3.2, time 20ms, pass: 3", NULL},
#undef HIDE
};

TEST(a_value_is_hidden_by_its_name)
{
    setenv("TEST_BASE_SECRET", "envvalue123", 1);
    free(secrets_hidden("x --api-token hunter2cmd"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *shown = texts[i].hide(texts[i].text), *again = texts[i].hide(shown);
        assert_string_equal(shown, texts[i].shown ? texts[i].shown : texts[i].text);
        assert_string_equal(again, shown);
        free(again);
        free(shown);
    }
}

static const char *const commands[][2][6] = {
    {{"run", "--api-key", "hunter 2", "x"}, {"run", "--api-key", "(hidden)", "x"}},
    {{"run", "--wandb_key=a,b c", "x"}, {"run", "--wandb_key=(hidden)", "x"}},
    {{"TOKEN=a,b;c d", "run"}, {"TOKEN=(hidden)", "run"}},
    {{"mpirun", "-x", "A_TOKEN=h,B=1", "x"}, {"mpirun", "-x", "A_TOKEN=(hidden),B=1", "x"}},
    {{"curl", "-H", "Authorization: Bearer h"}, {"curl", "-H", "Authorization: (hidden)"}},
    {{"curl", "-u", "me:h,h", "x"}, {"curl", "-u", "me:(hidden)", "x"}},
    {{"bash", "-c", "A_TOKEN=h run --n 3"}, {"bash", "-c", "A_TOKEN=(hidden) run --n 3"}},
    {{"A_TOKEN=h run --n 3"}, {"A_TOKEN=(hidden) run --n 3"}},
    {{"run", "--token", "--n", "", " 3 "}, {"run", "--token", "--n", "", " 3 "}},
};

TEST(words_of_commands)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct words shown;
        secrets_hidden_words(&shown, (char *const *)commands[i][0]);
        for (size_t k = 0; k < shown.n; k++)
            assert_string_equal(shown.v[k], commands[i][1][k]);
        assert_null(commands[i][0][shown.n]);
        words_free(&shown);
    }
}

/* ---- SHA-256 ---- */

/* A file is read in pieces. */
TEST_IN_FOLDER(a_file_as_its_bytes)
{
    static char data[700000];
    char whole[65], file[65], path[40];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7 % 251);
    sha256_hex(data, sizeof data, whole);
    int fd = memfd_create("data", 0);
    assert_true(files_write_all(fd, data, sizeof data));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(sha256_file(path, file), GS_OK);
    assert_string_equal(file, whole);
    close(fd);
    assert_int_equal(sha256_file(folder_path("absent"), file), GS_FAILED);
    folder_says("absent: cannot be opened");
}

/* Blocks and rest by the CPU's instructions, where it has them, and by the library alone. */
TEST(every_length_as_the_library)
{
    unsigned char data[400], hash[crypto_hash_sha256_BYTES];
    char ours[65], library[65];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * i + 11);
    for (size_t n = 0; n <= sizeof data; n++) {
        crypto_hash_sha256(hash, data, n);
        sodium_bin2hex(library, sizeof library, hash, sizeof hash);
        sha256_hex(data, n, ours);
        assert_string_equal(ours, library);
    }
}
