/* SPDX-License-Identifier: Apache-2.0
 *
 * What a config may say: the sections, and the keys of those that are the runner's own.
 */
#include "config/settings_tables.h"

#include <stddef.h>
#include <string.h>

#define DAY 86400.0
#define SEED_MAX 9007199254740992.0 /* 2^53: exact in JSON and in a CSV reader's double */
/* As WL_TEXT_FIELD, for the longer texts. */
#define LONG_TEXT_FIELD(S, member)                                                                 \
    (offsetof(S, member) + 0 * sizeof(&((S *)0)->member == (char(*)[SET_TEXT_MAX])0))
#define LONG_MAX (SET_TEXT_MAX - 1)
#define INT(S, m) #m, WL_INT, WL_AXIS, WL_FIELD(struct S, m, int64_t)
#define REAL(S, m) #m, WL_REAL, WL_AXIS, WL_FIELD(struct S, m, double)
#define TIME(S, m) #m, WL_TIME, WL_AXIS, WL_FIELD(struct S, m, double)
#define BOOL(S, m) #m, WL_BOOL, WL_AXIS, WL_FIELD(struct S, m, bool)
#define CHOICE(S, m) #m, WL_CHOICE, WL_AXIS, WL_FIELD(struct S, m, int)
#define TEXT(S, m) #m, WL_TEXT, WL_AXIS, WL_TEXT_FIELD(struct S, m)
#define LONG_TEXT(S, m) #m, WL_TEXT, WL_AXIS, LONG_TEXT_FIELD(struct S, m)

static const char *const launchers[] = {"auto", "mpirun", "srun", NULL};

/* clang-format off */
const struct wl_param settings_platform[] = {
    {TEXT(set_platform, name), NULL, "", 0, 0, NULL,
     "the folder under data/raw; default: the config's file name"},
    {TEXT(set_platform, title), NULL, "", 0, 0, NULL, "what figures and tables call it"},
    {TEXT(set_platform, device), NULL, "", 0, 0, NULL, "accelerator, e.g. NVIDIA H200; empty on the host"},
    {0}};

const struct wl_param settings_launch[] = {
    {INT(set_launch, ranks), NULL, "2", 1, 1e6, NULL, "processes in all"},
    {INT(set_launch, nodes), NULL, "1", 1, 1e5, NULL, "hosts they spread over, evenly"},
    {CHOICE(set_launch, launcher), NULL, "auto", 0, 0, launchers, "auto: srun inside a Slurm allocation, else mpirun"},
    {BOOL(set_launch, oversubscribe), NULL, "no", 0, 0, NULL, "allow more ranks than slots"},
    {TEXT(set_launch, bind), NULL, "auto", 0, 0, NULL, "what ranks are bound to: gpu (its NUMA node), or as the launcher names it: none, core, numa; auto: gpu on a device, else none"},
    {LONG_TEXT(set_launch, hosts), NULL, "", 0, LONG_MAX, NULL, "hosts for mpirun, by comma; empty: this one or the allocation"},
    {LONG_TEXT(set_launch, args), NULL, "", 0, LONG_MAX, NULL, "more arguments for the launcher, split at blanks"},
    {LONG_TEXT(set_launch, prefix), NULL, "", 0, LONG_MAX, NULL, "a command before the rank program, e.g. a container's"},
    {0}};

const struct wl_param settings_measure[] = {
    {INT(set_measure, launches), NULL, "5", 1, 1000, NULL, "fresh sets of processes: the unit of the statistics"},
    {INT(set_measure, blocks), NULL, "20", 1, 1e6, NULL, "at least so many a launch"},
    {INT(set_measure, max_blocks), NULL, "200", 1, 1e6, NULL, "at most so many a launch"},
    {INT(set_measure, samples), NULL, "5", 1, 1e5, NULL, "kept a visit of a cell"},
    {INT(set_measure, discard), NULL, "1", 0, 1e5, NULL, "samples thrown away after a switch of config"},
    {TIME(set_measure, sample_time), "s", "0", 0, 60, NULL, "a sample lasts at least so long; 0: from the clock's resolution"},
    {REAL(set_measure, precision), NULL, "1%", 1e-4, 0.5, NULL, "half-width of the median's 95% interval at which to stop, relative"},
    {TIME(set_measure, budget), "s", "10s", 1e-3, DAY, NULL, "a group may take so long in one launch"},
    {TIME(set_measure, warmup), "s", "200ms", 0, 3600, NULL, "operations before the first block"},
    {INT(set_measure, warmup_ops), NULL, "10", 0, 1e6, NULL, "and at least so many a cell"},
    {TIME(set_measure, deadline), "s", "60s", 0.1, DAY, NULL, "a cell may take so long for one step (prepare, visit, verify)"},
    {INT(set_measure, retries), NULL, "2", 0, 100, NULL, "after a crash, a hang or a lost rank"},
    {BOOL(set_measure, verify), NULL, "yes", 0, 0, NULL, "check the timed result after each block"},
    {TEXT(set_measure, baseline), NULL, "", 0, 0, NULL, "config that the others are held against; empty: the first"},
    {REAL(set_measure, equivalence), NULL, "1%", 1e-4, 0.5, NULL, "differences below it are called equivalent, relative"},
    {INT(set_measure, seed), NULL, "0", 0, SEED_MAX, NULL, "of the order of visits; 0: drawn at run and recorded"},
    {0}};

const struct wl_param settings_slurm[] = {
    {TEXT(set_slurm, account), NULL, "", 0, 0, NULL, "who pays"},
    {TEXT(set_slurm, partition), NULL, "", 0, 0, NULL, "where to run; empty: the cluster's default"},
    {INT(set_slurm, nodes), NULL, "0", 0, 1e5, NULL, "nodes of the job; 0: [launch] nodes"},
    {INT(set_slurm, gpus_per_node), NULL, "0", 0, 64, NULL, "GPUs asked for on each node"},
    {TEXT(set_slurm, gres), NULL, "", 0, 0, NULL, "generic resources, e.g. gpu:h200:4"},
    {TEXT(set_slurm, constraint), NULL, "", 0, 0, NULL, "node features"},
    {TIME(set_slurm, time), "s", "0", 0, 30 * DAY, NULL, "time limit; 0: from the plan"},
    {TEXT(set_slurm, qos), NULL, "", 0, 0, NULL, "quality of service"},
    {BOOL(set_slurm, exclusive), NULL, "yes", 0, 0, NULL, "no other job on the nodes"},
    {INT(set_slurm, launches), NULL, "1", 1, 1000, NULL, "a job takes so many, one after another"},
    {INT(set_slurm, throttle), NULL, "0", 0, 1e5, NULL, "jobs of a campaign that run at a time; 0: as many as the cluster likes"},
    {LONG_TEXT(set_slurm, container), NULL, "", 0, LONG_MAX, NULL, "image to run in"},
    {LONG_TEXT(set_slurm, modules), NULL, "", 0, LONG_MAX, NULL, "environment modules to load, by blanks or commas"},
    {LONG_TEXT(set_slurm, setup), NULL, "", 0, LONG_MAX, NULL, "a shell line before the run"},
    {0}};

const struct wl_param settings_cost[] = {
    {REAL(set_cost, usd_per_hour), "USD/h", "0", 0, 1e6, NULL, "price of all the nodes together; 0: not said"},
    {0}};

#define PART(name) #name, settings_##name, offsetof(struct settings, name), false
#define FREE(name, labelled) name, NULL, 0, labelled, NULL
const struct settings_section settings_sections[] = {
    {PART(platform), NULL, "what is measured"},
    {PART(launch), NULL, "how its ranks are started"},
    {PART(measure), NULL, "how long, how often and how precisely"},
    {PART(slurm), "sbatch.", "how to ask a cluster for it; sbatch.NAME = VALUE is passed on"},
    {PART(cost), NULL, "what it costs"},
    {FREE("limits", false), "physical limits of the platform: busbw, link, memory, network (rates), flops, flops.PRECISION (numbers), and more; KEY.source or source: where from"},
    {FREE("reference", false), "published numbers. NAME = TIME or RATE [± SHARE] at SECTION/CONFIG/SIZE: for compare --reference. claim.NAME = words, claim.NAME.given = ranks 8, busbw 168GB/s, …: for limits. claim.NAME.source or source: where published"},
    {FREE("sites", false), "sites of a WAN"},
    {FREE("links", false), "what all links of a WAN have in common"},
    {FREE("link", true), "one link of a WAN, [link NAME]"},
    {FREE("model", false), "the training that a WAN carries"},
    {FREE("lab", false), "an emulated WAN on one machine"},
    {0}};
/* clang-format on */

size_t settings_text_max(const struct wl_param *p)
{
    return p->max >= WL_TEXT_MAX ? (size_t)p->max + 1 : WL_TEXT_MAX;
}

const struct settings_section *settings_section_find(const char *section)
{
    for (const struct settings_section *s = settings_sections; s->name; s++) {
        size_t n = strlen(s->name);
        if (!strcmp(s->name, section) ||
            (s->labelled && !strncmp(s->name, section, n) && section[n] == ' '))
            return s;
    }
    return NULL;
}
