/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/text.h"
#include "common/collective.h"
#include "config/config.h"
#include "config/locate.h"
#include "config/settings.h"
#include "launch/fabric.h"
#include "launch/launcher.h"
#include "launch/run.h"
#include "record/runs.h"
#include "suspects/suspects_text.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- fabric ---- */

static void show_ports(const struct fabric *f)
{
    if (!f->ports)
        printf("ports      none: NCCL uses sockets between machines\n");
    for (size_t i = 0; i < f->ports; i++) {
        const struct fabric_port *p = &f->port[i];
        printf("%-10s %-12s %-10s %4.0f Gbit/s  %-8s %s", i ? "" : "ports", p->name,
               fabric_kind_name(p->kind), p->rate * 8e-9, p->active ? "active" : "down",
               *p->pci.address ? p->pci.address : "no PCI device");
        if (p->pci.numa >= 0)
            printf("  NUMA %d", p->pci.numa);
        printf("\n");
    }
}

/* Each GPU with its ports, the nearest first. */
static void show_order(const struct fabric *f)
{
    size_t order[FABRIC_MAX];
    if (!f->gpus)
        printf("GPUs       none\n");
    for (size_t g = 0; g < f->gpus; g++) {
        printf("%-10s %s ", g ? "" : "GPUs", f->gpu[g].address);
        if (f->gpu[g].numa >= 0)
            printf(" NUMA %d ", f->gpu[g].numa);
        fabric_order(f, &f->gpu[g], order);
        for (size_t i = 0; i < f->ports; i++) {
            const struct fabric_port *p = &f->port[order[i]];
            printf("%s %s %s", i ? "," : "", p->name,
                   fabric_distance_name(fabric_distance(&f->gpu[g], &p->pci)));
        }
        printf("\n");
    }
}

static void show_rest(const struct fabric *f)
{
    const struct fabric_interface *c = fabric_control(f);
    if (c)
        printf("control    %s, %s%s\n", c->name,
               c->ipv4 && c->ipv6 ? "IPv4 and IPv6"
               : c->ipv4          ? "IPv4"
                                  : "IPv6",
               c->default_route ? ", default route" : "");
    else
        printf("control    no interface is up with an address\n");
    printf("GPUDirect  %s\n", f->gpudirect ? "nvidia_peermem is loaded"
                                           : "no peer-memory module is loaded (DMA-BUF may work)");
    bool efa = false;
    for (size_t i = 0; i < f->ports; i++)
        efa = efa || f->port[i].kind == FABRIC_EFA;
    if (efa && f->ofi_plugin)
        printf("EFA        plugin %s\n", f->ofi_plugin);
    else if (efa)
        printf("EFA        no libfabric plugin for NCCL found: NCCL uses sockets; install "
               "aws-ofi-nccl\n");
}

static void show_settings(const struct fabric_setting *s, size_t n)
{
    if (!n)
        printf("would set  nothing\n");
    for (size_t i = 0; i < n; i++) {
        printf("%-10s %s=%s\n", i ? "" : "would set", s[i].name, s[i].value);
        if (s[i].kept)
            printf("%-10s   already set in the environment: %s\n", "", getenv(s[i].name));
        else
            printf("%-10s   %s\n", "", s[i].why);
    }
}

struct fabric_request {
    const char *root;
    bool json;
};

static int show(void *request, char **words, int n)
{
    (void)words;
    (void)n;
    const struct fabric_request *q = request;
    if (q->root && !files_is_folder(q->root))
        return fail(GS_USAGE, "fabric: --root %s: not a folder", q->root);
    AUTO(fabric_free) struct fabric f = {0};
    struct fabric_setting settings[FABRIC_SETTINGS_MAX];
    AUTO_FREE char *real = q->root ? realpath(q->root, NULL) : xstrdup("");
    fabric_read(&f, real);
    size_t chosen = fabric_choose(&f, getenv, settings);
    if (q->json) {
        AUTO_JSON json_t *j = fabric_json(&f, settings, chosen);
        json_print(j, JSON_INDENT(2));
    } else {
        show_ports(&f);
        show_order(&f);
        show_rest(&f);
        show_settings(settings, chosen);
    }
    return GS_OK;
}

int cmd_fabric(int argc, char **argv)
{
    struct fabric_request q = {0};
    const struct cli_option options[] = {
        {"root", 'r', CLI_TEXT, &q.root, "DIR",
         "read DIR/sys and DIR/proc instead of /sys and /proc"},
        {"json", 0, CLI_FLAG, &q.json, NULL, "print one JSON object"},
        {0}};
    const struct cli cli = {.arguments = "",
                            .summary = "Shows the network ports and GPUs of this machine, and the "
                                       "NCCL settings that gradsync would choose.",
                            .example = "gradsync fabric --json",
                            .options = options,
                            .args = {0, 0}};
    return cli_request(&cli, argc, argv, show, &q);
}

/* ---- suspects ---- */

#define DATA "data/suspects" /* apart from data/raw, whose runs become tables and figures */

struct suspects_request {
    const char **set, *out, *baseline, *prometheus;
    struct cli_int ranks;
    bool json, quiet;
};

/* What is measured, and the recordings of it. */
struct measuring {
    const struct suspects_request *q;
    struct words overrides, dirs;
    size_t ranks;
    bool cuda;
};

static void measuring_free(struct measuring *m)
{
    words_free(&m->overrides);
    words_free(&m->dirs);
}

/* ---- measuring ---- */

/* The ranks of this machine: a GPU each, or a processor each where there is no GPU. */
static int plan_here(struct measuring *m)
{
    struct utsname u;
    m->cuda = !gpus_here_missing();
    m->ranks = (size_t)(m->cuda ? gpus_here_count() : here_slots());
    if (m->q->ranks.value)
        m->ranks = (size_t)m->q->ranks.value;
    if (!m->ranks)
        return fail(GS_USAGE, "suspects: cannot count the GPUs of this machine: give --ranks N");
    words_addf(&m->overrides, "platform:name=%s", uname(&u) == 0 ? u.nodename : "here");
    if (m->cuda)
        words_add(&m->overrides, "platform:device=GPU");
    else if (m->ranks <= (size_t)here_slots())
        words_add(&m->overrides, "launch:bind=core");
    words_addf(&m->overrides, "launch:ranks=%zu", m->ranks);
    return GS_OK;
}

/* The [platform] and [launch] of a user's config. */
static int plan_config(struct measuring *m, const char *config)
{
    AUTO(config_free_of) struct config *c = NULL;
    struct settings settings;
    CHECK(config_load(&c, config, NULL));
    CHECK(settings_read(c, &settings));
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        bool name = !strcmp(e->section, "platform") && !strcmp(e->key, "name");
        if (!name && (!strcmp(e->section, "platform") || !strcmp(e->section, "launch")))
            words_addf(&m->overrides, "%s:%s=%s", e->section, e->key, e->value);
    }
    words_addf(&m->overrides, "platform:name=%s", settings.platform.name);
    m->cuda = settings.platform.device[0];
    m->ranks = (size_t)settings.launch.ranks;
    if (m->q->ranks.value) {
        m->ranks = (size_t)m->q->ranks.value;
        words_addf(&m->overrides, "launch:ranks=%zu", m->ranks);
    }
    return GS_OK;
}

static int plan(struct measuring *m, const char *config)
{
    CHECK(launcher_refuse_ranks("suspects"));
    CHECK(config ? plan_config(m, config) : plan_here(m));
    for (size_t i = 0; m->q->set && m->q->set[i]; i++)
        words_add(&m->overrides, m->q->set[i]);
    return GS_OK;
}

/* ---- judging ---- */

static int read_runs(struct suspects_data *d, char *const *dirs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (runs_is_run(dirs[i]))
            CHECK(suspects_data_add(d, dirs[i]));
    return d->visits || d->failed.n ? GS_OK : fail(GS_FAILED, "suspects: nothing was measured");
}

/* A failure is one of the results; of a part of the measurement there is no verdict. */
static int measure(struct measuring *m, struct suspects_data *d)
{
    AUTO_TEXT struct text config = {0};
    AUTO_FREE char *dir = NULL;
    bool interrupted = false;
    struct run_options options = {.data = m->q->out,
                                  .quiet = m->q->quiet,
                                  .overrides = (const char *const *)m->overrides.v,
                                  .dir = &dir,
                                  .interrupted = &interrupted};
    /* Each rank has one partner a round; all pairs of a round run at once. */
    text_addf(&config,
              "[measure]\nlaunches = 3\nblocks = 10\nmax_blocks = 10\nsamples = 1\ndiscard = 0\n"
              "sample_time = 20ms\nwarmup = 100ms\nwarmup_ops = 2\nbudget = 60s\nretries = 1\n\n"
              "[pairs]\nbackend = %s\nsize = %s\nround = 0:%d:+1\n",
              m->cuda ? "cuda" : "host", m->cuda ? "64MiB" : "4MiB",
              m->ranks > 1 ? collective_rounds((int)m->ranks) : 0);
    int code = run_config_text("suspects", &config, &options);
    if (dir)
        words_add(&m->dirs, dir);
    if (code == GS_USAGE || code == GS_CANNOT || interrupted || !dir)
        return code;
    return read_runs(d, m->dirs.v, m->dirs.n);
}

/* Before measuring: a mistake in --baseline must not show after it. */
static int read_baseline(struct suspects_data *past, const char *name)
{
    AUTO_FREE char *dir = locate_run(name);
    return access(dir, F_OK) ? locate_failed(GS_USAGE, name, LOCATE_ONE_RUN)
                             : suspects_data_add(past, dir);
}

static int report(const struct measuring *m, const char *config, const struct suspects_data *d,
                  const struct suspects_data *past)
{
    const struct suspects_request *q = m->q;
    AUTO(suspects_verdicts_free) struct verdicts v = {0};
    if (q->baseline) {
        CHECK(suspects_data_alike(d, past->params, q->baseline));
        suspects_judge_since(&v, d, past);
        if (!v.compared && !v.n)
            return fail(GS_USAGE, "%s: has none of these ranks: they are matched by host and GPU",
                        q->baseline);
    } else {
        suspects_judge(&v, d);
    }
    AUTO_FREE char *command = config_command("suspects", config, NULL, q->set);
    AUTO_FREE char *later =
        xstrfmt("%s --ranks %zu --baseline %s", command, d->ranks, SHELL_WORD(m->dirs.v[0]));
    const struct suspects_report r = {d, &v, q->baseline ? past->run_id : NULL, later};
    if (q->json)
        suspects_print_json(&r);
    else
        suspects_print(&r);
    if (q->prometheus)
        CHECK(suspects_write_prometheus(&r, q->prometheus));
    return v.n || d->failed.n ? GS_FAILED : GS_OK;
}

/* The arguments are recordings, or one config, or none. */
static int suspects(void *request, char **words, int count)
{
    const struct suspects_request *q = request;
    const size_t n = (size_t)count;
    AUTO(measuring_free) struct measuring m = {.q = q};
    AUTO(suspects_data_free) struct suspects_data d = {0}, past = {0};
    if (q->baseline)
        CHECK(read_baseline(&past, q->baseline));
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *dir = locate_run(words[i]);
        if (runs_is_run(dir))
            words_add(&m.dirs, dir);
    }
    const char *config = n && !m.dirs.n ? words[0] : NULL;
    if (m.dirs.n < n && (m.dirs.n || n > 1))
        return fail(GS_USAGE, "suspects: give one config, or recordings of gradsync suspects");
    if (m.dirs.n)
        CHECK(read_runs(&d, m.dirs.v, m.dirs.n));
    else
        CHECK(plan(&m, config));
    if (!d.rank)
        CHECK(measure(&m, &d));
    return report(&m, config, &d, &past);
}

int cmd_suspects(int argc, char **argv)
{
    struct suspects_request q = {.out = DATA, .ranks = {0, 1, 1000000}};
    const struct cli_option options[] = {
        {"ranks", 'n', CLI_INT, &q.ranks, "N",
         "number of GPUs, or of ranks on processors (default: those of this machine)"},
        {"baseline", 'b', CLI_TEXT, &q.baseline, "RUN",
         "compare each GPU and link with itself in this earlier recording, not with its peers"},
        {"set", 's', CLI_LIST, &q.set, "SECTION:KEY=VALUE",
         "override a key: measure:blocks=100 for a longer test, pairs:backend=host for processors"},
        {"output", 'o', CLI_TEXT, &q.out, "DATA",
         "folder for the recordings (default data/suspects)"},
        {"json", 0, CLI_FLAG, &q.json, NULL, "print JSON"},
        {"prometheus", 0, CLI_TEXT, &q.prometheus, "FILE", "also write gauges into this textfile"},
        {"quiet", 'q', CLI_QUIET, &q.quiet, NULL, "print errors and the result only"},
        {0}};
    const struct cli cli = {
        .arguments = "[CONFIG | RUN...]",
        .summary =
            "Finds the GPU, link or host that is slower than its peers: measures each GPU and each "
            "pair, on the ranks of a config or of this machine; or judges recordings. Prints a "
            "line for each suspect and exits with 1; without a suspect, prints one line and exits "
            "with "
            "0. A sound machine gets a false suspect in at most 5% of runs.",
        .example = "gradsync suspects h200-4gpu --baseline 20261123T031837Z-78d4",
        .options = options,
        .args = {0, -1}};
    return cli_request(&cli, argc, argv, suspects, &q);
}
