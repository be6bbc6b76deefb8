/* SPDX-License-Identifier: Apache-2.0
 *
 * The null plugin gives the series that its parameters ask for.
 */
#include "base/files.h"
#include "base/stats.h"
#include "config/params.h"
#include "plugin/plugin.h"
#include "unit.h"

#define N 20000

static struct plugin *null_plugin;
static char said[256];

static void say_why(void *ctx, const char *fmt, ...)
{
    (void)ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(said, sizeof said, fmt, args);
    va_end(args);
}

static int load(void **state)
{
    (void)state;
    AUTO_FREE char *path = xstrfmt("%s/../plugins/null.so", program_dir());
    int code = plugin_load(&null_plugin, path);
    return code;
}

static int unload(void **state)
{
    (void)state;
    plugin_unload(null_plugin);
    return 0;
}

/* "key=value key=value" over the defaults. */
static void *cell_of(const char *text)
{
    const struct wl_plugin *w = &null_plugin->wl;
    char why[256];
    struct words terms;
    void *cell = xcalloc(1, w->cell_size);
    assert_true(params_default(w->params, cell, why, sizeof why));
    words_split(&terms, text, ' ');
    for (size_t i = 0; *text && i < terms.n; i++) {
        char *value = strchr(terms.v[i], '=');
        *value++ = '\0';
        const struct wl_param *p = params_find(w->params, terms.v[i]);
        assert_non_null(p);
        if (!param_parse(p, value, cell, why, sizeof why))
            fail_msg("%s: %s", terms.v[i], why);
    }
    words_free(&terms);
    return cell;
}

struct one {
    struct wl_host host;
    void *self, *cell, *prepared;
    enum wl_status status; /* of prepare() */
};

static void setup(struct one *o, const char *cell, uint64_t seed, int rank)
{
    const struct wl_plugin *w = &null_plugin->wl;
    *o = (struct one){.host = {.size = sizeof o->host,
                               .rank = rank,
                               .ranks = 2,
                               .nodes = 1,
                               .seed = seed,
                               .fail = say_why},
                      .cell = cell_of(cell)};
    assert_int_equal(w->open(&o->self, &o->host), WL_OK);
    o->status = w->prepare(o->self, o->cell, &o->prepared);
}

static void teardown(struct one *o)
{
    if (o->status == WL_OK)
        null_plugin->wl.release(o->prepared);
    null_plugin->wl.close(o->self);
    free(o->cell);
}

static enum wl_status sample(struct one *o, double *value)
{
    struct wl_sample s = {.size = sizeof s};
    enum wl_status status = null_plugin->wl.sample(o->prepared, 1, &s);
    *value = s.values[0];
    return status;
}

/* N samples of a fresh plugin; the caller frees them. */
static double *series(const char *cell, uint64_t seed, int rank)
{
    struct one o;
    double *x = xmalloc(N * sizeof *x);
    setup(&o, cell, seed, rank);
    assert_int_equal(o.status, WL_OK);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(sample(&o, &x[i]), WL_OK);
    teardown(&o);
    return x;
}

static double deviation(const double *x)
{
    double mean = stats_mean(x, N), sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sqrt(sum / N);
}

static void expect(const char *cell, size_t i, double value)
{
    double *x = series(cell, 1, 0);
    if (fabs(x[i] / value - 1) > 1e-12)
        fail_msg("%s: sample %zu is %.17g, not %.17g", cell, i, x[i], value);
    free(x);
}

TEST_WITH(exact, load, unload)
{
    expect("", 0, 10e-6);
    expect("time=3ms", N - 1, 3e-3);
    expect("effect=5% config=b", 7, 10.5e-6);
    expect("effect=5% config=c", 7, 11e-6);
    expect("effect=5%", 7, 10e-6);
    expect("step=3% step_after=100", 99, 10e-6);
    expect("step=3% step_after=100", 100, 10.3e-6);
    expect("drift=1e-6", 1000, 10.01e-6);
    expect("warmup=5", 4, 20e-6);
    expect("warmup=5", 5, 10e-6);
}

/* Autocorrelation of neighbours. */
static double lag_one(const double *x, size_t n)
{
    double mean = stats_mean(x, n), variance = 0, lag = 0;
    for (size_t i = 0; i < n; i++) {
        variance += (x[i] - mean) * (x[i] - mean);
        lag += i ? (x[i] - mean) * (x[i - 1] - mean) : 0;
    }
    return lag / variance;
}

/* Standard errors at N = 20000: 0.5% of the deviation, 0.007 of a correlation, and with ar1 = 0.9
 * effectively N/19 samples. The seed is fixed, so this holds always or never. */
TEST_WITH(noise, load, unload)
{
    double *white = series("noise=2%", 1, 0), *red = series("noise=2% ar1=0.9", 1, 0);
    assert_true(fabs(stats_mean(white, N) / 10e-6 - 1) < 0.001);
    assert_true(fabs(deviation(white) / 0.2e-6 - 1) < 0.03);
    assert_true(fabs(lag_one(white, N)) < 0.03);
    assert_true(fabs(deviation(red) / 0.2e-6 - 1) < 0.1);
    assert_true(fabs(lag_one(red, N) - 0.9) < 0.02);
    free(white);
    free(red);
}

TEST_WITH(seed, load, unload)
{
    const char *cell = "noise=2% launch_noise=1%";
    double *a = series(cell, 1, 0), *same = series(cell, 1, 0), *rank = series(cell, 1, 1),
           *other = series(cell, 2, 0);
    assert_memory_equal(a, same, N * sizeof *a);
    assert_memory_not_equal(a, rank, N * sizeof *a);
    assert_memory_not_equal(a, other, N * sizeof *a);
    free(a);
    free(same);
    free(rank);
    free(other);
}

TEST_WITH(launch_noise, load, unload)
{
    double *x = xmalloc(N * sizeof *x), first;
    for (size_t i = 0; i < N; i++) {
        struct one o;
        setup(&o, "launch_noise=1%", i, 0);
        sample(&o, &x[i]);
        sample(&o, &first);
        assert_true(first == x[i]); /* one draw a launch */
        teardown(&o);
    }
    assert_true(fabs(deviation(x) / 0.1e-6 - 1) < 0.03);
    free(x);
}

TEST_WITH(spin, load, unload)
{
    struct one o;
    double t;
    setup(&o, "spin=yes time=200us", 1, 0);
    assert_int_equal(sample(&o, &t), WL_OK);
    assert_true(t >= 200e-6);
    teardown(&o);
}

/* Statuses of five samples and of verify() after them, as digits of enum wl_status. */
static void faults(const char *cell, int rank, const char *samples, enum wl_status verified)
{
    struct one o;
    double t;
    char got[6] = "";
    setup(&o, cell, 1, rank);
    assert_int_equal(o.status, WL_OK);
    for (int i = 0; i < 5; i++)
        got[i] = (char)('0' + sample(&o, &t));
    assert_string_equal(got, samples);
    assert_int_equal(null_plugin->wl.verify(o.prepared), verified);
    teardown(&o);
}

TEST_WITH(scripted_faults, load, unload)
{
    struct one o;
    faults("", 0, "00000", WL_OK);
    faults("fault=fail fault_after=3", 0, "00033", WL_OK);
    faults("fault=fail fault_after=3", 1, "00000", WL_OK);
    faults("fault=fail fault_rank=-1", 1, "33333", WL_OK);
    faults("fault=fail fault_config=b", 0, "00000", WL_OK);
    faults("fault=fail fault_config=b config=b", 0, "33333", WL_OK);
    faults("fault=fail fault_share=0", 0, "00000", WL_OK);
    faults("fault=lost fault_after=4", 0, "00004", WL_OK);
    faults("fault=retry fault_after=2", 0, "00200", WL_OK);
    faults("fault=wrong", 0, "00000", WL_FAIL);
    faults("fault=wrong fault_after=6", 0, "00000", WL_OK);
    assert_non_null(strstr(said, "scripted fault 'wrong'"));
    setup(&o, "fault=skip", 1, 0);
    assert_int_equal(o.status, WL_SKIP);
    teardown(&o);
    setup(&o, "fault=prepare_fail", 1, 0);
    assert_int_equal(o.status, WL_FAIL);
    teardown(&o);
}

TEST_WITH(describe, load, unload)
{
    struct wl_job job = {.size = sizeof job, .ranks = 1, .nodes = 1, .local_ranks = 1};
    struct wl_shape shape = {.size = sizeof shape};
    char why[256] = "";
    void *odd = cell_of("size=12"), *unfit = cell_of("fault=unfit"), *good = cell_of("size=1MiB");
    assert_int_equal(null_plugin->wl.describe(odd, &job, &shape, why, sizeof why), WL_FAIL);
    assert_non_null(strstr(why, "size=12"));
    assert_int_equal(null_plugin->wl.describe(unfit, &job, &shape, why, sizeof why), WL_SKIP);
    assert_int_equal(null_plugin->wl.describe(good, &job, &shape, why, sizeof why), WL_OK);
    assert_int_equal(shape.size_B, 1 << 20);
    assert_true(shape.host_B >= shape.size_B);
    free(odd);
    free(unfit);
    free(good);
}
