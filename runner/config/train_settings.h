/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of [train] that are not swept: which command to start, and how to read its step times.
 * Every other key is the user's: in lower case a placeholder {key} of the command, in capitals an
 * environment variable.
 */
#pragma once

#include "config/config_entries.h"
#include "workload.h"

#define TRAIN_WORKLOAD "train"
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

bool train_is_section(const char *section); /* [train] or [train LABEL] */
bool train_is_variable(const char *key);    /* in capitals */

/* GS_OK or GS_USAGE, every fault reported. */
int train_settings_read(struct train_settings *out, const struct config *c, const char *section);

/* The text with each {name} replaced by value_of(ctx, name), or as it is where that is NULL. A name
 * begins with a lower-case letter. "{{" is a brace; "${name}" belongs to the shell. The caller
 * frees it. */
char *train_fill(const char *text, const char *(*value_of)(void *ctx, const char *name), void *ctx);
