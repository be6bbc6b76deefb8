/* SPDX-License-Identifier: Apache-2.0
 *
 * The sections of a config, and the keys of the runner's own sections.
 */
#include "config/settings_tables.h"

#include <stddef.h>
#include <string.h>

#define DAY 86400.0
#define SEED_MAX 9007199254740992.0 /* 2^53: exact in JSON and in a CSV reader's double */
/* Like WL_TEXT_FIELD, for longer texts. */
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
     "name of the folder under data/raw; default: the config's file name"},
    {TEXT(set_platform, title), NULL, "", 0, 0, NULL, "name of the platform in figures and tables"},
    {TEXT(set_platform, device), NULL, "", 0, 0, NULL, "accelerator, e.g. NVIDIA H200; empty: none"},
    {0}};

const struct wl_param settings_launch[] = {
    {INT(set_launch, ranks), NULL, "2", 1, 1e6, NULL, "number of processes"},
    {INT(set_launch, nodes), NULL, "1", 1, 1e5, NULL, "number of hosts; each gets the same number of ranks"},
    {CHOICE(set_launch, launcher), NULL, "auto", 0, 0, launchers, "auto: srun inside a Slurm allocation, else mpirun"},
    {BOOL(set_launch, oversubscribe), NULL, "no", 0, 0, NULL, "allow more ranks than slots"},
    {TEXT(set_launch, bind), NULL, "auto", 0, 0, NULL, "binding of ranks: gpu (the NUMA node of the rank's GPU), or a name that the launcher knows: none, core, numa; auto: gpu on a device, else none"},
    {LONG_TEXT(set_launch, hosts), NULL, "", 0, LONG_MAX, NULL, "hosts for mpirun, separated by commas; empty: this host or the allocation"},
    {LONG_TEXT(set_launch, args), NULL, "", 0, LONG_MAX, NULL, "additional arguments for the launcher, separated by blanks"},
    {LONG_TEXT(set_launch, prefix), NULL, "", 0, LONG_MAX, NULL, "command that starts the rank program, e.g. a container runtime"},
    {0}};

const struct wl_param settings_measure[] = {
    {INT(set_measure, launches), NULL, "5", 1, 1000, NULL, "number of launches; each starts new processes and is one unit of the statistics"},
    {INT(set_measure, blocks), NULL, "20", 1, 1e6, NULL, "minimum blocks per launch"},
    {INT(set_measure, max_blocks), NULL, "200", 1, 1e6, NULL, "maximum blocks per launch"},
    {INT(set_measure, samples), NULL, "5", 1, 1e5, NULL, "samples recorded per visit of a cell"},
    {INT(set_measure, discard), NULL, "1", 0, 1e5, NULL, "samples dropped after a switch of config"},
    {TIME(set_measure, sample_time), "s", "0", 0, 60, NULL, "minimum duration of a sample; 0: from the clock's resolution"},
    {REAL(set_measure, precision), NULL, "1%", 1e-4, 0.5, NULL, "stop when the half-width of the median's 95% interval is at most this, relative to the median"},
    {TIME(set_measure, budget), "s", "10s", 1e-3, DAY, NULL, "time limit per group and launch"},
    {TIME(set_measure, warmup), "s", "200ms", 0, 3600, NULL, "duration of the operations before the first block"},
    {INT(set_measure, warmup_ops), NULL, "10", 0, 1e6, NULL, "minimum warm-up operations per cell"},
    {TIME(set_measure, deadline), "s", "60s", 0.1, DAY, NULL, "time limit for one prepare, visit or verify of a cell"},
    {INT(set_measure, retries), NULL, "2", 0, 100, NULL, "retries after a crash, a hang or a lost rank"},
    {BOOL(set_measure, verify), NULL, "yes", 0, 0, NULL, "check the timed result after each block"},
    {TEXT(set_measure, baseline), NULL, "", 0, 0, NULL, "config to compare the others with; empty: the first"},
    {REAL(set_measure, equivalence), NULL, "1%", 1e-4, 0.5, NULL, "call two configs equivalent if they differ by less than this, relative"},
    {INT(set_measure, seed), NULL, "0", 0, SEED_MAX, NULL, "seed of the order of visits; 0: drawn at random and recorded"},
    {0}};

const struct wl_param settings_slurm[] = {
    {TEXT(set_slurm, account), NULL, "", 0, 0, NULL, "Slurm account to charge"},
    {TEXT(set_slurm, partition), NULL, "", 0, 0, NULL, "Slurm partition; empty: the cluster's default"},
    {INT(set_slurm, nodes), NULL, "0", 0, 1e5, NULL, "nodes of the job; 0: [launch] nodes"},
    {INT(set_slurm, gpus_per_node), NULL, "0", 0, 64, NULL, "GPUs per node; 0: none requested"},
    {TEXT(set_slurm, gres), NULL, "", 0, 0, NULL, "generic resources, e.g. gpu:h200:4"},
    {TEXT(set_slurm, constraint), NULL, "", 0, 0, NULL, "required node features"},
    {TIME(set_slurm, time), "s", "0", 0, 30 * DAY, NULL, "time limit of a job; 0: from the plan"},
    {TEXT(set_slurm, qos), NULL, "", 0, 0, NULL, "quality of service"},
    {BOOL(set_slurm, exclusive), NULL, "yes", 0, 0, NULL, "allow no other job on the nodes"},
    {INT(set_slurm, launches), NULL, "1", 1, 1000, NULL, "launches per job, one after another"},
    {INT(set_slurm, throttle), NULL, "0", 0, 1e5, NULL, "maximum jobs of a campaign that run at a time; 0: no limit"},
    {LONG_TEXT(set_slurm, container), NULL, "", 0, LONG_MAX, NULL, "container image"},
    {LONG_TEXT(set_slurm, modules), NULL, "", 0, LONG_MAX, NULL, "environment modules to load, separated by blanks or commas"},
    {LONG_TEXT(set_slurm, setup), NULL, "", 0, LONG_MAX, NULL, "shell command to execute before the run"},
    {0}};

const struct wl_param settings_cost[] = {
    {REAL(set_cost, usd_per_hour), "USD/h", "0", 0, 1e6, NULL, "price of all nodes together; 0: unknown"},
    {0}};

#define PART(name) #name, settings_##name, offsetof(struct settings, name), false
#define FREE(name, labelled) name, NULL, 0, labelled, NULL
const struct settings_section settings_sections[] = {
    {PART(platform), NULL, "the platform to measure"},
    {PART(launch), NULL, "how to start the ranks"},
    {PART(measure), NULL, "how long, how often and how precisely to measure"},
    {PART(slurm), "sbatch.", "resources of Slurm jobs; sbatch.NAME = VALUE becomes the option --NAME=VALUE of sbatch"},
    {PART(cost), NULL, "the price of the nodes"},
    {FREE("limits", false), "physical limits of the platform: busbw, link, memory, network (rates), flops, flops.PRECISION (numbers), and more; KEY.source or source: where the number comes from"},
    {FREE("reference", false), "published numbers. NAME = TIME or RATE [± SHARE] at SECTION/CONFIG/SIZE: for compare --reference. claim.NAME = words, claim.NAME.given = ranks 8, busbw 168GB/s, …: for limits. claim.NAME.source or source: where published"},
    {FREE("sites", false), "sites of a WAN"},
    {FREE("links", false), "defaults for all links of a WAN"},
    {FREE("link", true), "one link of a WAN, as [link NAME]"},
    {FREE("model", false), "the training that runs over the WAN"},
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
