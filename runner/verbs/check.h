/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync check FILE`: reports every fault of a file, one per line. Each function returns GS_OK or
 * the exit code of the worst fault.
 */
#pragma once

/* Reads every section, and plans every workload. */
int check_config(const char *path, const char *const *overrides);
int check_plugin(const char *path); /* symbols, tables, a block */
int check_raw(const char *path);    /* a .jsonl, a run folder, or a tree of them */
