/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the runner's own settings from a config.
 */
#pragma once

#include "config/config.h"
#include "config/settings_tables.h"
#include "workload.h"

/* ---- the sections of the runner ---- */

/* Fills *out with the defaults and then the config's values. Returns GS_OK, or GS_USAGE after every
 * fault was reported. */
int settings_read(const struct config *c, struct settings *out);

/* A time as Slurm writes it: "02:00:00", "1-00:00:00", "30:00". */
bool settings_slurm_time(const char *text, double *seconds);

/* Does gpus_per_node ask for GPUs? */
bool settings_slurm_gpus(const struct set_slurm *s);

/* A number of [limits], in SI units: "busbw", "link", "memory" ...; NaN if absent. */
double settings_limit(const struct config *c, const char *key);

/* ---- [train] ---- */

/* The keys of [train] that are not swept: which command to start, and how to read its step times.
 * Every other key is the user's: in lower case a placeholder {key} of the command, in capitals an
 * environment variable. */

#define TRAIN_UNSET "unset" /* the value of a variable that the command shall not have */

enum train_unit { TRAIN_S, TRAIN_MS, TRAIN_US, TRAIN_PER_S };

struct train_settings {
    const struct config_entry *command;
    const struct config_entry *time; /* NULL: the patterns of `gradsync watch` */
    const struct config_entry *file; /* NULL: the command's output */
    int unit;
    double timeout;
};

/* The names of the units; ends with NULL. */
extern const char *const train_units[];

/* For help; ends with a NULL name. `command`, `time`, `file` and `axes` may be of any length. */
extern const struct wl_param train_keys[];

/* GS_OK or GS_USAGE, every fault reported. */
int train_settings_read(struct train_settings *out, const struct config *c, const char *section);

/* The text with each {name} replaced by value_of(ctx, name), or as it is where that is NULL. A name
 * begins with a lower-case letter. "{{" is a brace; "${name}" belongs to the shell. The caller
 * frees it. */
char *train_fill(const char *text, const char *(*value_of)(void *ctx, const char *name), void *ctx);
