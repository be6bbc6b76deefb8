/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "base/units.h"
#include "lab/facts.h"
#include "launch/launcher.h"
#include "plan/plan_build.h"
#include "plan/plan_io.h"
#include "plan/plan_table.h"
#include "plan/sections.h"
#include "verbs/commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan_options {
    const char **set;
    const char *workload;
    bool json, all;
};

/* ---- one workload ---- */

static void print_cost(const struct plan *p)
{
    struct plan_cost cost = plan_cost(p);
    char least[32], most[32], host[32], device[32];
    const struct set_measure *m = &p->set.measure;
    printf("%zu %s in %zu %s, %lld %s\n", p->n_cells, p->n_cells == 1 ? "cell" : "cells",
           p->n_groups, p->n_groups == 1 ? "group" : "groups", (long long)m->launches,
           m->launches == 1 ? "launch" : "launches");
    printf("memory: %s a rank on the host",
           units_human_size(host, sizeof host, (double)cost.host_B));
    if (cost.device_B)
        printf(", %s on its device",
               units_human_size(device, sizeof device, (double)cost.device_B));
    printf("\ntime: %s to %s, more on a busy machine\n",
           units_human_time(least, sizeof least, cost.time_s),
           units_human_time(most, sizeof most, cost.most_s));
    if (p->set.cost.usd_per_hour > 0)
        printf("cost: %.2f to %.2f USD\n", p->set.cost.usd_per_hour * cost.time_s / 3600,
               p->set.cost.usd_per_hour * cost.most_s / 3600);
    if (m->seed)
        printf("seed: %lld\n", (long long)m->seed);
    else
        printf("seed: drawn at run\n");
}

static void print_plan(const struct plan *p, bool all)
{
    printf("[%s] on %s, %lld ranks on %lld %s%s\n", p->section, p->set.platform.name,
           (long long)p->set.launch.ranks, (long long)p->set.launch.nodes,
           p->set.launch.nodes == 1 ? "node" : "nodes",
           launcher_binds_to_gpus(p) ? ", each bound beside its GPU" : "");
    plan_table(p, all);
    print_cost(p);
}

static json_t *plan_and_cost(const struct plan *p)
{
    struct plan_cost cost = plan_cost(p);
    json_t *o = plan_json(p);
    if (!p->set.measure.seed)
        json_object_set_new(o, "seed", json_null()); /* this one was drawn for nothing */
    json_object_set_new(o, "cost",
                        json_pack("{s:f, s:f, s:I, s:I}", "time_s", cost.time_s, "most_s",
                                  cost.most_s, "host_B", (json_int_t)cost.host_B, "device_B",
                                  (json_int_t)cost.device_B));
    return o;
}

/* A platform of other hardware, with GPUs or of several nodes is planned here and run elsewhere:
 * what this machine holds says nothing about it. */
static bool may_run_here(const struct plan *p)
{
    return !p->set.platform.device[0] && !plan_cost(p).device_B && p->set.launch.nodes == 1 &&
           !config_section(p->config, "slurm");
}

/* ---- the verb ---- */

static int show_section(struct config *c, const char *section, const struct plan_options *o,
                        json_t *all)
{
    struct plan *p;
    int code = plan_build(&p, config_share(c), section);
    if (code)
        return code;
    if (o->json)
        json_array_append_new(all, plan_and_cost(p));
    else
        print_plan(p, o->all);
    fflush(stdout);
    code = may_run_here(p) ? err_worse(launcher_check_slots(p), plan_memory_check(p)) : GS_OK;
    plan_free(p);
    return code;
}

/* With the options of this plan: what comes next measures what was shown. */
static void say_next(const struct config *c, const struct plan_options *o)
{
    const struct config_entry *hosts = config_find(c, "launch", "hosts");
    bool lab = hosts && facts_missed(c, hosts->value), slurm = config_section(c, "slurm");
    char *run = shell_command("run", c->path, o->workload, o->set);
    char *other = lab     ? shell_command("lab", c->path, NULL, o->set)
                  : slurm ? shell_command("submit", c->path, o->workload, o->set)
                          : xstrdup("");
    if (lab)
        printf("\nnext: %s -- %s\n", other, run);
    else
        printf("\nnext: %s%s%s\n", run, slurm ? ", or in Slurm's jobs " : "", other);
    free(run);
    free(other);
}

static int show_sections(struct config *c, const struct plan_options *o)
{
    json_t *all = json_array();
    size_t found = 0;
    int code = GS_OK;
    for (size_t i = 0; config_workload(c, i); i++) {
        if (!sections_wanted(config_workload(c, i), o->workload))
            continue;
        if (found++ && !o->json)
            printf("\n");
        code = err_worse(code, show_section(c, config_workload(c, i), o, all));
    }
    if (o->json && found) {
        json_dumpf(all, stdout, JSON_SORT_KEYS | JSON_INDENT(1));
        printf("\n");
    }
    json_decref(all);
    if (!found && !o->workload && config_section(c, "model")) {
        printf("%s\n", o->json ? "[]" : "nothing to measure; 'gradsync model' says what it gives");
        return GS_OK;
    }
    if (found && !code && !o->json)
        say_next(c, o);
    return found ? code : sections_none(c, o->workload);
}

int cmd_plan(int argc, char **argv)
{
    struct plan_options o = {0};
    const struct cli_option options[] = {
        {"set", 's', CLI_LIST, &o.set, "SECTION:KEY=VALUE", "instead of what the config says"},
        {"workload", 'w', CLI_TEXT, &o.workload, "SECTION", "this section alone"},
        {"all", 'a', CLI_FLAG, &o.all, NULL, "print every cell, however many"},
        {"json", 'j', CLI_FLAG, &o.json, NULL, "the plans as JSON"},
        {0}};
    const struct cli cli = {"plan",
                            "CONFIG",
                            "The cells a config asks for, their ids, memory and "
                            "time. Runs nothing.",
                            options,
                            1,
                            1};
    char **args = xcalloc((size_t)argc + 1, sizeof *args);
    struct config *c = NULL;
    bool done;
    int n, code = cli_parse(&cli, argc, argv, args, &n, &done);
    if (!code && !done)
        code = config_load(&c, args[0], o.set);
    if (!code && !done)
        code = show_sections(c, &o);
    config_free(c);
    cli_free(&cli);
    free(args);
    return code;
}
