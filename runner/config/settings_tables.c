/* SPDX-License-Identifier: Apache-2.0
 *
 * The sections of a config, and the keys of the runner's own sections.
 */
#include "config/settings_tables.h"

#include "base/text.h"

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
     "name of the folder under data/raw; empty: the config's file name"},
    {TEXT(set_platform, title), NULL, "", 0, 0, NULL, "name in figures and tables"},
    {TEXT(set_platform, device), NULL, "", 0, 0, NULL, "accelerator, e.g. NVIDIA H200; empty: measured on the host"},
    {0}};

const struct wl_param settings_launch[] = {
    {INT(set_launch, ranks), NULL, "2", 1, 1e6, NULL, "total number of processes"},
    {INT(set_launch, nodes), NULL, "1", 1, 1e5, NULL, "number of hosts; the ranks are spread evenly"},
    {CHOICE(set_launch, launcher), NULL, "auto", 0, 0, launchers, "program that starts the ranks; auto: srun inside a Slurm allocation, else mpirun"},
    {BOOL(set_launch, oversubscribe), NULL, "no", 0, 0, NULL, "allow more ranks than slots"},
    {TEXT(set_launch, bind), NULL, "auto", 0, 0, NULL, "what each rank is bound to: gpu (the NUMA node of its GPU), none, or a name of the launcher (core, numa); auto: gpu if a device is set, else none"},
    {LONG_TEXT(set_launch, hosts), NULL, "", 0, LONG_MAX, NULL, "hosts for mpirun, separated by commas; empty: this host or the allocation"},
    {LONG_TEXT(set_launch, args), NULL, "", 0, LONG_MAX, NULL, "more arguments for the launcher, separated by blanks"},
    {LONG_TEXT(set_launch, prefix), NULL, "", 0, LONG_MAX, NULL, "command in front of the rank program, e.g. a container runtime"},
    {0}};

const struct wl_param settings_measure[] = {
    {INT(set_measure, launches), NULL, "5", 1, SET_LAUNCHES_MAX, NULL, "number of launches; each starts new processes and is one unit of the statistics"},
    {INT(set_measure, blocks), NULL, "20", 1, 1e6, NULL, "minimum blocks per launch"},
    {INT(set_measure, max_blocks), NULL, "200", 1, 1e6, NULL, "maximum blocks per launch"},
    {INT(set_measure, samples), NULL, "5", 1, 1e5, NULL, "samples kept per visit of a cell"},
    {INT(set_measure, discard), NULL, "1", 0, 1e5, NULL, "samples discarded after each change of config"},
    {TIME(set_measure, sample_time), "s", "0", 0, 60, NULL, "minimum time of a sample; 0: chosen from the clock's resolution"},
    {REAL(set_measure, precision), NULL, "1%", 1e-4, 0.5, NULL, "stop when the half-width of the median's 95% interval is below this share of the median"},
    {TIME(set_measure, budget), "s", "10s", 1e-3, DAY, NULL, "time limit per group and launch"},
    {TIME(set_measure, warmup), "s", "200ms", 0, 3600, NULL, "time of the warm-up before the first block"},
    {INT(set_measure, warmup_ops), NULL, "10", 0, 1e6, NULL, "minimum warm-up operations per cell; 0, with warmup=0: only those that choose the number of iterations"},
    {TIME(set_measure, deadline), "s", "60s", 0.1, DAY, NULL, "time limit for one call of a cell (prepare, visit or verify)"},
    {INT(set_measure, retries), NULL, "2", 0, 100, NULL, "number of retries after a crash, a hang or a lost rank"},
    {BOOL(set_measure, verify), NULL, "yes", 0, 0, NULL, "check the timed result after each block"},
    {TEXT(set_measure, baseline), NULL, "", 0, 0, NULL, "config that the others are compared with; empty: the first"},
    {REAL(set_measure, equivalence), NULL, "1%", 1e-4, 0.5, NULL, "relative difference below which two configs are equivalent"},
    {INT(set_measure, seed), NULL, "0", 0, SEED_MAX, NULL, "seed of the order of visits; 0: draw one at run and record it"},
    {TEXT(set_measure, proof_of), NULL, "", 0, 0, NULL, "id of a run whose advice this run tests; recorded in the header"},
    {0}};

const struct wl_param settings_slurm[] = {
    {TEXT(set_slurm, account), NULL, "", 0, 0, NULL, "Slurm account to charge"},
    {TEXT(set_slurm, partition), NULL, "", 0, 0, NULL, "partition for the jobs; empty: the cluster's default"},
    {INT(set_slurm, nodes), NULL, "0", 0, 1e5, NULL, "nodes per job; 0: the value of [launch] nodes"},
    {TEXT(set_slurm, gpus_per_node), NULL, "", 0, 0, NULL, "GPUs to request per node, e.g. 4 or h100:4; 0: no request, though the platform has GPUs"},
    {TIME(set_slurm, time), "s", "0", 0, 30 * DAY, NULL, "time limit of a job, e.g. 2h or 02:00:00; 0: computed from the plan"},
    {BOOL(set_slurm, exclusive), NULL, "yes", 0, 0, NULL, "keep other jobs off the nodes"},
    {INT(set_slurm, throttle), NULL, "0", 0, 1e5, NULL, "maximum jobs of a section that run at a time; 0: no limit"},
    {LONG_TEXT(set_slurm, setup), NULL, "", 0, LONG_MAX, NULL, "shell line to run before the measurement, e.g. module load openmpi cuda"},
    {0}};

const struct wl_param settings_cost[] = {
    {REAL(set_cost, usd_per_hour), "USD/h", "0", 0, 1e6, NULL, "price of all nodes together; 0: unknown"},
    {0}};

#define PART(name) #name, settings_##name, offsetof(struct settings, name)
#define FREE(name) name, NULL, 0, NULL
const struct settings_section settings_sections[] = {
    {PART(platform), NULL, "the machine that is measured"},
    {PART(launch), NULL, "how the ranks are started"},
    {PART(measure), NULL, "how long, how often and how precisely to measure"},
    {PART(slurm), "sbatch.", "the Slurm jobs of submit; sbatch.NAME = VALUE adds the option --NAME=VALUE of sbatch"},
    {PART(cost), NULL, "price of the machine, for gradsync plan"},
    {FREE("limits"), "physical limits of the platform: busbw, link, memory, network (rates), flops, flops.PRECISION (numbers) and others; KEY.source or source: origin of the number"},
    {FREE("reference"), "published numbers, for limits. NAME = RATE: a bus bandwidth. claim.NAME = the claim in words, claim.NAME.given = its facts, e.g. ranks 8, busbw 168GB/s. claim.NAME.source or source: the publication"},
    {FREE("sites"), "the sites of a wide-area network (WAN)"},
    {FREE("links"), "properties of all links of a WAN"},
    {FREE("model"), "a training that runs across the sites of a WAN"},
    {FREE("lab"), "of old recordings: seed of the random losses, and late, the largest share of late packets"},
    {0}};
/* clang-format on */

const struct settings_section *settings_section_find(const char *section)
{
    for (const struct settings_section *s = settings_sections; s->name; s++)
        if (!strcmp(s->name, section))
            return s;
    return NULL;
}

const char *settings_section_nearest(const char *section)
{
    return NEAREST(section, settings_sections, COUNT(settings_sections) - 1, name);
}

bool train_is_section(const char *section)
{
    size_t n = strlen(TRAIN_WORKLOAD);
    return !strncmp(section, TRAIN_WORKLOAD, n) && (!section[n] || section[n] == ' ');
}

bool train_is_variable(const char *key)
{
    return *key >= 'A' && *key <= 'Z' && !key[strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}
