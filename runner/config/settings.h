/* SPDX-License-Identifier: Apache-2.0
 *
 * The runner's own settings: the fixed sections of a config, each one table and one struct.
 */
#ifndef GS_SETTINGS_H
#define GS_SETTINGS_H

#include "config/config.h"
#include "workload.h"

#define SET_TEXT_MAX (4 * WL_TEXT_MAX) /* bytes of a long text, terminator included */

struct set_platform {
    char name[WL_TEXT_MAX]; /* default: the config's file name without .ini */
    char title[WL_TEXT_MAX];
    char device[WL_TEXT_MAX]; /* e.g. "NVIDIA H200", "" on the host */
};

struct set_launch {
    int64_t ranks;          /* processes in all */
    int64_t nodes;          /* hosts they spread over, evenly */
    int launcher;           /* auto, mpirun, srun */
    bool oversubscribe;     /* more ranks than slots */
    char bind[WL_TEXT_MAX]; /* auto, gpu; none, core, numa, ... as the launcher names it */
    char hosts[SET_TEXT_MAX];
    char args[SET_TEXT_MAX];   /* more arguments for the launcher, split at blanks */
    char prefix[SET_TEXT_MAX]; /* a command before the rank program (container) */
};

/* Blocks that every launch measures even if its budget is spent, unless max_blocks is less. A
 * launch with fewer does not count in a verdict (compare/contrast.h). */
enum { SET_LEAST_BLOCKS = 3 };

struct set_measure {
    int64_t launches; /* fresh sets of processes: the unit of the statistics */
    int64_t blocks;   /* at least so many a launch */
    int64_t max_blocks;
    int64_t samples;    /* kept a visit */
    int64_t discard;    /* samples thrown away after a switch of config */
    double sample_time; /* a sample lasts at least so long; 0: from the clock's resolution */
    double precision;   /* half-width of the median's 95% CI, relative */
    double budget;      /* seconds a group may take in one launch */
    double warmup;      /* seconds of operations before the first block */
    int64_t warmup_ops; /* and at least so many a cell */
    double deadline;    /* seconds a cell may take for one step (prepare, visit, verify) */
    int64_t retries;    /* after a crash, a hang or a lost rank */
    bool verify;
    char baseline[WL_TEXT_MAX]; /* config label; "": the first config */
    double equivalence;         /* verdict bounds, relative */
    int64_t seed;               /* 0: drawn at run and recorded */
};

struct set_slurm {
    char account[WL_TEXT_MAX];
    char partition[WL_TEXT_MAX];
    int64_t nodes;         /* 0: [launch] nodes */
    int64_t gpus_per_node; /* 0: none asked for */
    char gres[WL_TEXT_MAX];
    char constraint[WL_TEXT_MAX];
    double time; /* seconds; 0: from the plan */
    char qos[WL_TEXT_MAX];
    bool exclusive;
    int64_t launches; /* a job takes so many, one after another */
    int64_t throttle; /* jobs that run at a time; 0: as many as the cluster likes */
    char container[SET_TEXT_MAX];
    char modules[SET_TEXT_MAX]; /* split at blanks and commas */
    char setup[SET_TEXT_MAX];   /* a shell line before the run */
};

struct set_cost {
    double usd_per_hour; /* of all the nodes together */
};

struct settings {
    struct set_platform platform;
    struct set_launch launch;
    struct set_measure measure;
    struct set_slurm slurm;
    struct set_cost cost;
};

/* The tables, ending with a NULL name. */
extern const struct wl_param settings_platform[], settings_launch[], settings_measure[],
    settings_slurm[], settings_cost[];

/* Bytes of a WL_TEXT member of these tables: WL_TEXT_MAX, or more for one that declares a longer
 * `max`. */
size_t settings_text_max(const struct wl_param *p);

/* The sections a config may hold, and whether their keys are checked by a table. */
struct settings_section {
    const char *name;
    const struct wl_param
        *table;              /* NULL: free keys (limits, reference) or checked by another module */
    size_t offset;           /* in struct settings */
    bool labelled;           /* "link" stands for every "link NAME" */
    const char *free_prefix; /* keys that begin so are free beside the table's; NULL: none */
    const char *help;
};
extern const struct settings_section settings_sections[]; /* ends with a NULL name */

/* The row that `section` (as written in a config) belongs to; NULL: a workload. */
const struct settings_section *settings_section_find(const char *section);

/* Defaults, then the config; GS_OK or GS_USAGE, every fault reported. */
int settings_read(const struct config *c, struct settings *out);

/* A number of [limits], by key, SI: "busbw", "link", "memory", ...; NaN when absent. */
double settings_limit(const struct config *c, const char *key);

#endif
