/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads a platform config: an .ini file, plus --set overrides. The runner's own sections are listed
 * in settings_tables.c. Every other section belongs to a workload: its name is a plugin's name and
 * an optional label, as in [mpi_allreduce] and [nccl_allreduce latency].
 */
#pragma once

#include "config/config_entries.h"

/* `path` is a file, or a name for locate_config. `overrides` is NULL, or a NULL-terminated list of
 * "section:key=value". Returns GS_OK, or GS_USAGE after every fault was reported: a file that cannot
 * be read, a damaged line, a duplicate key, an unknown section or key (with the nearest name). */
int config_load(struct config **out, const char *path, const char *const *overrides);

/* The same, but *out is set despite faults if the file could be read: `gradsync check` goes on to
 * report the faults that other modules find. */
int config_load_all(struct config **out, const char *path, const char *const *overrides);

/* GS_USAGE, every fault reported, if a comment cuts a command (config_entry.cut). Only of a config
 * that is still to be run: a recording with such a comment can be read. */
int config_check_commands(const struct config *c);

/* As config_load_all, for a text in memory; messages call it `path`. *out is always set. */
int config_from_text(struct config **out, const char *path, const char *text, size_t n,
                     const char *const *overrides);
