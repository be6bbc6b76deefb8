/* SPDX-License-Identifier: Apache-2.0
 *
 * The runner's own settings: the fixed sections of a config, one table and one struct each.
 */
#pragma once

#include "workload.h"

#define SET_LAUNCHES_MAX 1000
#define SET_TEXT_MAX (4 * WL_TEXT_MAX) /* bytes of a long text, terminator included */

struct set_platform {
    char name[WL_TEXT_MAX]; /* default: the config's file name without .ini */
    char title[WL_TEXT_MAX];
    char device[WL_TEXT_MAX]; /* e.g. "NVIDIA H200", "" on the host */
};

struct set_launch {
    int64_t ranks;          /* processes in all */
    int64_t nodes;          /* hosts, with equal numbers of ranks */
    int launcher;           /* auto, mpirun, srun */
    bool oversubscribe;     /* more ranks than slots */
    char bind[WL_TEXT_MAX]; /* auto, gpu, or a binding that the launcher knows */
    char hosts[SET_TEXT_MAX];
    char args[SET_TEXT_MAX];   /* additional arguments for the launcher, split at blanks */
    char prefix[SET_TEXT_MAX]; /* a command before the rank program (container) */
};

/* Every launch measures at least this many blocks, whatever its budget, unless max_blocks is less.
 * Verdicts ignore a launch with fewer (compare/contrast.h). */
enum { SET_LEAST_BLOCKS = 3 };

struct set_measure {
    int64_t launches;   /* fresh sets of processes: the unit of the statistics */
    int64_t blocks;     /* minimum per launch */
    int64_t max_blocks; /* per launch */
    int64_t samples;    /* recorded per visit of a cell */
    int64_t discard;    /* samples dropped after a switch of config */
    double sample_time; /* minimum duration of a sample; 0: from the clock's resolution */
    double precision;   /* half-width of the median's 95% CI, relative */
    double budget;      /* time limit per group and launch, seconds */
    double warmup;      /* operations before the first block, seconds */
    int64_t warmup_ops; /* minimum warm-up operations per cell */
    double deadline;    /* time limit for a prepare, visit or verify of a cell, seconds */
    int64_t retries;    /* after a crash, a hang or a lost rank */
    bool verify;
    char baseline[WL_TEXT_MAX]; /* config label; "": the first config */
    double equivalence;         /* verdict bounds, relative */
    int64_t seed;               /* 0: drawn at run and recorded */
    char proof_of[WL_TEXT_MAX]; /* ids of runs; "": none */
};

struct set_slurm {
    char account[WL_TEXT_MAX];
    char partition[WL_TEXT_MAX];
    int64_t nodes;                   /* 0: [launch] nodes */
    char gpus_per_node[WL_TEXT_MAX]; /* "4" or "h100:4"; "" or "0": none requested */
    double time;                     /* seconds; 0: from the plan */
    bool exclusive;
    int64_t throttle;         /* jobs that run at a time; 0: no limit */
    char setup[SET_TEXT_MAX]; /* a shell line before the run */
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

/* The fixed sections of a config. */
struct settings_section {
    const char *name;
    const struct wl_param *table; /* NULL: any key, or another module checks the keys */
    size_t offset;                /* in struct settings */
    const char *free_prefix;      /* also allows any key with this prefix; NULL: none */
    const char *help;
};
extern const struct settings_section settings_sections[]; /* ends with a NULL name */

/* The row of a config's section; NULL: the section belongs to a workload. */
const struct settings_section *settings_section_find(const char *section);
/* The nearest name; or NULL. */
const char *settings_section_nearest(const char *section);

/* The section of a training command, and its variables of the environment. */
#define TRAIN_WORKLOAD "train"
bool train_is_section(const char *section); /* [train] or [train LABEL] */
bool train_is_variable(const char *key);    /* in capitals */
