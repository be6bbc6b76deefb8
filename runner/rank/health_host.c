/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/health.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Files read per block: on a machine with hundreds of cores a sample of them suffices. */
enum { FILES_MAX = 16 };

struct host {
    glob_t frequencies, temperatures;
    double wall_s, busy_s; /* at the start of the launch */
};

/* Seconds of processor time that programs used since boot, system calls included, interrupts not. */
static double busy_s(void)
{
    double user = 0, nice = 0, system = 0;
    AUTO_FCLOSE FILE *f = fopen("/proc/stat", "r");
    int got = f ? fscanf(f, "cpu %lf %lf %lf", &user, &nice, &system) : 0;
    return got == 3 ? (user + nice + system) / (double)sysconf(_SC_CLK_TCK) : 0;
}

static bool host_open(void **self, const struct team *team)
{
    (void)team;
    struct host *h = xcalloc(1, sizeof *h);
    glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq", 0, NULL, &h->frequencies);
    glob("/sys/class/thermal/thermal_zone*/temp", 0, NULL, &h->temperatures);
    h->wall_s = clock_now_s();
    h->busy_s = busy_s();
    *self = h;
    return true;
}

static void host_close(void *self)
{
    AUTO_FREE struct host *h = self;
    globfree(&h->frequencies);
    globfree(&h->temperatures);
}

static bool read_number(const char *path, double *value)
{
    AUTO_FCLOSE FILE *f = fopen(path, "r");
    return f && fscanf(f, "%lf", value) == 1;
}

/* Minimum, mean and maximum of the numbers in evenly chosen files, and how many were read. */
struct spread {
    double min, sum, max;
    int n;
};

static void spread_add(struct spread *s, double v)
{
    s->min = s->n && s->min < v ? s->min : v;
    s->max = s->n && s->max > v ? s->max : v;
    s->sum += v;
    s->n++;
}

static struct spread read_files(const glob_t *files)
{
    struct spread s = {0};
    size_t n = files->gl_pathc < FILES_MAX ? files->gl_pathc : FILES_MAX;
    for (size_t i = 0; i < n; i++) {
        double v;
        if (read_number(files->gl_pathv[i * files->gl_pathc / n], &v))
            spread_add(&s, v);
    }
    return s;
}

/* Machines without cpufreq, mostly virtual ones, have it in /proc/cpuinfo. */
static struct spread read_cpuinfo(void)
{
    struct spread s = {0};
    char line[256];
    AUTO_FCLOSE FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && s.n < FILES_MAX && fgets(line, sizeof line, f)) {
        double mhz;
        if (sscanf(line, "cpu MHz : %lf", &mhz) == 1)
            spread_add(&s, mhz * 1e3);
    }
    return s;
}

static void host_read(void *self, json_t *now)
{
    const struct host *h = self;
    double load;
    if (read_number("/proc/loadavg", &load))
        json_object_set_new(now, "load1", json_real(load));
    double since_s = clock_now_s() - h->wall_s;
    if (since_s >= HEALTH_MEAN_S && h->busy_s > 0)
        json_object_set_new(now, "busy_cores", health_cores(busy_s() - h->busy_s, since_s));
    struct spread khz = read_files(&h->frequencies);
    if (!khz.n)
        khz = read_cpuinfo();
    if (khz.n) {
        json_object_set_new(now, "cpu_min_Hz", json_real(khz.min * 1e3));
        json_object_set_new(now, "cpu_Hz", json_real(khz.sum / khz.n * 1e3));
    }
    struct spread millidegrees = read_files(&h->temperatures);
    if (millidegrees.n)
        json_object_set_new(now, "temperature_C", json_real(millidegrees.max * 1e-3));
}

const struct health_source health_host = {
    .name = "host",
    .per_node = true,
    .open = host_open,
    .close = host_close,
    .read = host_read,
};
