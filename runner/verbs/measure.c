/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/campaign.h"
#include "config/locate.h"
#include "config/settings.h"
#include "job/tune.h"
#include "lab/probe.h"
#include "lab/spec.h"
#include "launch/launcher.h"
#include "launch/run.h"
#include "plan/plan.h"
#include "record/runs.h"
#include "verbs/commands.h"
#include "wan/net.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- plan ---- */

struct plan_options {
    const char **set;
    const char *workload;
};

/* ---- one workload ---- */

/* "25 s to 30 s"; one of them if both are the same. */
static const char *range(char *buf, size_t n, double least_s, double most_s)
{
    char least[32], most[32];
    units_human_time(least, sizeof least, least_s);
    units_human_time(most, sizeof most, most_s);
    bool same = !strcmp(least, most);
    snprintf(buf, n, "%s%s%s", least, same ? "" : " to ", same ? "" : most);
    return buf;
}

static void print_cost(const struct plan *p)
{
    struct plan_cost cost = plan_cost(p);
    const struct set_measure *m = &p->set.measure;
    bool compares = false;
    for (size_t i = 0; i < p->n_groups; i++)
        compares = compares || plan_group_compares(p, &p->groups[i]);
    printf("%zu %s in %zu %s, %lld %s%s\n", p->n_cells, p->n_cells == 1 ? "cell" : "cells",
           p->n_groups, p->n_groups == 1 ? "group" : "groups", (long long)m->launches,
           m->launches == 1 ? "launch" : "launches",
           compares ? "" : "; one config: nothing to compare");
    printf("memory: %s per rank on the host", HUMAN_SIZE(cost.host_B));
    if (cost.device_B)
        printf(", %s on its device", HUMAN_SIZE(cost.device_B));
    char time[80];
    printf("\ntime: %s\n", range(time, sizeof time, cost.time_s, cost.most_s));
    if (p->set.cost.usd_per_hour > 0)
        printf("cost: %.2f to %.2f USD\n", p->set.cost.usd_per_hour * cost.time_s / 3600,
               p->set.cost.usd_per_hour * cost.most_s / 3600);
    if (m->seed)
        printf("seed: %lld\n", (long long)m->seed);
    else
        printf("seed: drawn at run\n");
}

static void print_plan(const struct plan *p)
{
    AUTO_FREE char *title =
        xstrfmt("[%s] on %s, %lld rank%s on %lld node%s%s", p->section, p->set.platform.name,
                (long long)p->set.launch.ranks, p->set.launch.ranks == 1 ? "" : "s",
                (long long)p->set.launch.nodes, p->set.launch.nodes == 1 ? "" : "s",
                launcher_binds_to_gpus(p) ? ", each bound beside its GPU" : "");
    screen_say(title);
    plan_table(p);
    print_cost(p);
}

/* ---- the verb ---- */

/* Repeats the options, so that the next command measures the plan that was shown. */
static void say_next(const struct config *c, const struct plan_options *o)
{
    const struct config_entry *hosts = config_find(c, "launch", "hosts");
    bool lab = hosts && lab_facts_missed(c, hosts->value), slurm = config_section(c, "slurm");
    AUTO_FREE char *run = config_command("run", c->path, o->workload, o->set);
    AUTO_FREE char *other = lab     ? config_command("lab", c->path, NULL, o->set)
                            : slurm ? config_command("submit", c->path, o->workload, o->set)
                                    : xstrdup("");
    if (lab)
        printf("\nnext: %s -- %s\n", other, run);
    else
        printf("\nnext: %s%s%s\n", run, slurm ? ", or in Slurm jobs: " : "", other);
}

/* "72 cells in 2 workloads; 40 s to 2.1 min" */
static void print_total(const struct sections *all)
{
    char time[80];
    double least_s = 0, most_s = 0;
    size_t cells = 0;
    for (size_t i = 0; i < all->n; i++) {
        struct plan_cost cost = plan_cost(all->plans[i]);
        cells += all->plans[i]->n_cells;
        least_s += cost.time_s;
        most_s += cost.most_s;
    }
    printf("%zu cell%s in %zu workload%s: ", cells, cells == 1 ? "" : "s", all->n,
           all->n == 1 ? "" : "s");
    printf("%s, more on a busy machine\n\n", range(time, sizeof time, least_s, most_s));
}

static void print_plans(const struct sections *all)
{
    if (all->n)
        print_total(all);
    for (size_t i = 0; i < all->n; i++) {
        printf("%s", i ? "\n" : "");
        print_plan(all->plans[i]);
    }
    fflush(stdout);
}

static int check_plans(const struct sections *all)
{
    bool slots = false; /* check once: all sections share one [launch] */
    int code = all->left_out;
    for (size_t i = 0; i < all->n; i++) {
        const struct plan *p = all->plans[i];
        /* A plan with GPUs, several nodes or Slurm probably runs elsewhere: the memory and slots of this
         * machine do not matter for it. */
        if (p->set.platform.device[0] || plan_cost(p).device_B || p->set.launch.nodes != 1 ||
            config_section(p->config, "slurm"))
            continue;
        if (!slots)
            code = err_worse(code, launcher_check_slots(p));
        code = err_worse(code, plan_memory_check(p));
        slots = true;
    }
    return code;
}

/* A fault of the config suppresses the plans: before a long plan it would scroll away. */
static int show_sections(struct config *c, const struct plan_options *o)
{
    AUTO(plan_sections_free) struct sections all = {0};
    if (!config_workload(c, 0) && !o->workload && config_section(c, "model")) {
        AUTO_FREE char *model = err_as_called("'gradsync model' computes its [model]");
        printf("nothing to measure; %s\n", model);
        return GS_OK;
    }
    CHECK(plan_sections_of(&all, c, o->workload));
    print_plans(&all);
    CHECK(check_plans(&all));
    say_next(c, o);
    return GS_OK;
}

static int plan_config(void *request, char **words, int n)
{
    (void)n;
    const struct plan_options *o = request;
    AUTO(config_free_of) struct config *c = NULL;
    CHECK(config_load(&c, words[0], o->set));
    CHECK(wan_map_check_words(c, NULL));
    return show_sections(c, o);
}

int cmd_plan(int argc, char **argv)
{
    struct plan_options o = {0};
    const struct cli_option options[] = {CLI_SET_ROW(&o.set),
                                         {"workload", 'w', CLI_TEXT, &o.workload, "SECTION",
                                          "plan only this workload section (default: all)"},
                                         {0}};
    const struct cli cli = {.arguments = "CONFIG",
                            .summary = "Lists the cells that a config defines, with their ids, "
                                       "memory and estimated time. Runs nothing.",
                            .example = "gradsync plan local --set measure:launches=3",
                            .options = options,
                            .args = {1, 1}};
    return cli_request(&cli, argc, argv, plan_config, &o);
}

/* ---- run ---- */

static int run(void *request, char **words, int n)
{
    (void)n;
    CHECK(launcher_refuse_ranks("run"));
    return run_config(words[0], request);
}

int cmd_run(int argc, char **argv)
{
    struct run_options o = {.data = RUN_DATA};
    const struct cli_option table[] = {
        CLI_SET_ROW(&o.overrides),
        {"output", 'o', CLI_TEXT, &o.data, "RAW", "folder for the recordings (default data/raw)"},
        {"workload", 'w', CLI_TEXT, &o.workload, "SECTION",
         "run only this workload section (default: all)"},
        {"quiet", 'q', CLI_QUIET, &o.quiet, NULL, "print errors only, no progress"},
        {0}};
    const struct cli cli = {.arguments = "CONFIG",
                            .summary = "Measures what a config defines.",
                            .example = "gradsync run local --set measure:launches=3",
                            .options = table,
                            .args = {1, 1}};
    return cli_request(&cli, argc, argv, run, &o);
}

/* ---- resume ---- */

struct resume_request {
    struct cli_int launch; /* 0: all */
    struct run_options options;
};

static int resume(void *request, char **words, int n)
{
    (void)n;
    struct resume_request *q = request;
    AUTO_FREE char *what = locate_run(words[0]);
    if (tune_is_run(what))
        return tune_resume(what, q->options.commands);
    if (campaign_is(what) && !q->launch.value)
        return fail_at(GS_USAGE, what, 0, "Slurm jobs measure it: gradsync submit %s",
                       SHELL_WORD(what));
    CHECK(launcher_refuse_ranks("resume"));
    q->options.launch = (int)q->launch.value;
    return run_folder(what, &q->options);
}

int cmd_resume(int argc, char **argv)
{
    struct resume_request q = {.launch = {0, 1, INT_MAX}};
    const struct cli_option table[] = {
        {"quiet", 'q', CLI_QUIET, &q.options.quiet, NULL, "print errors only, no progress"},
        {"launch", 'l', CLI_INT, &q.launch, "N", "measure only launch N; job scripts use this"},
        {"commands", 0, CLI_FLAG, &q.options.commands, NULL,
         "run the commands of a run that you did not begin in this folder: prefix, args, the "
         "command of tune; read them first"},
        {0}};
    const struct cli cli = {.arguments = "RUN",
                            .summary = "Measures the missing cells of a run, by the same plan.",
                            .example = "gradsync resume 20250101T000000Z-ab12",
                            .options = table,
                            .args = {1, 1}};
    return cli_request(&cli, argc, argv, resume, &q);
}

/* ---- tune ---- */

static int tune(void *request, char **words, int n)
{
    (void)n;
    return tune_job(request, words);
}

int cmd_tune(int argc, char **argv)
{
    struct tune_options o = {.platform = "job",
                             .out = "data/raw",
                             .minutes = NULL,
                             .worth = "1%",
                             .memory = "10%",
                             .emit = "env",
                             .proofs = {4, 0, 99},
                             .seed = {(long)time(NULL), 0, LONG_MAX}};
    const struct cli_option options[] = {
        {"minutes", 'm', CLI_TEXT, &o.minutes, "N",
         "time for everything, kept within 10% (default 10; with --keep 2)"},
        {"worth", 0, CLI_TEXT, &o.worth, "SHARE",
         "smallest gain of interest, as a share of the step (default 1%)"},
        {"candidates", 'c', CLI_TEXT, &o.candidates, "FILE",
         "settings to try besides those of gradsync: lines LINK: NAME=VALUE ... (docs/tune.md)"},
        {"only", 0, CLI_TEXT, &o.only, "WORDS",
         "try only settings that contain one of these words, separated by commas"},
        {"memory", 0, CLI_TEXT, &o.memory, "SHARE",
         "advise no setting that needs more GPU memory than this share (default 10%)"},
        {"arms", 'a', CLI_TEXT, &o.arms, "FILE",
         "settings to compare inside the running job, instead of those of gradsync: lines as for "
         "--candidates"},
        {"launches", 0, CLI_TEXT, &o.launches, "FILE", "the same, each in launches of its own"},
        {"library", 0, CLI_TEXT, &o.library, "FILE",
         "another file of NCCL, to compare with the job's own"},
        {"proof", 'l', CLI_INT, &o.proofs, "N",
         "launches of the proof; 3 if time is short (default 4). 0: no proof; all settings stay to "
         "the end, in launches of six blocks each, as many as the time allows"},
        {"emit", 'e', CLI_TEXT, &o.emit, "FORM",
         "form of the lines to paste: env or pytorch (default env)"},
        {"dry-run", 'n', CLI_FLAG, &o.dry_run, NULL, "print what would be tried; start nothing"},
        {"no-price", 0, CLI_FLAG, &o.no_price, NULL,
         "leave out the price: no launch without communication"},
        {"keep", 'k', CLI_TEXT, &o.keep, "MINUTES",
         "the job is a real one: compare settings during its first minutes, without a price, and "
         "let it go on with the best; MINUTES between its checkpoints, or 'yes' if it has none"},
        {"seed", 0, CLI_INT, &o.seed, "N", "seed of the order of the settings (default: the time)"},
        {"platform", 'p', CLI_TEXT, &o.platform, "NAME",
         "name of the platform in the recordings (default job)"},
        {"output", 'o', CLI_TEXT, &o.out, "RAW",
         "folder for the recordings, on a file system that all ranks see (default data/raw)"},
        CLI_QUIET_ROW,
        {0}};
    const struct cli cli = {
        .arguments = "-- COMMAND...",
        .summary =
            "Says what communication costs your training job, and which setting gets it back: "
            "launches the command, compares settings inside the running job between blocks of "
            "its "
            "steps, and proves the best in launches that did not choose it. The command "
            "needs no change.",
        .example = "gradsync tune -- torchrun --nproc_per_node 2 train.py",
        .options = options,
        .args = {1, -1}};
    return cli_request(&cli, argc, argv, tune, &o);
}
