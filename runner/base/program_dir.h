/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Folder of the running program, without a trailing slash. */
const char *program_dir(void);
/* The file can be executed. */
bool program_runs(const char *path);
/* Path of a program in PATH, freed by the caller; NULL: not found. */
char *program_find(const char *name);
