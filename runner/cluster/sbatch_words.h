/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells which config values are safe in a job script at places that cannot be quoted.
 */
#pragma once

#include <stdbool.h>

/* Safe in a #SBATCH line: letters, digits and the marks of Slurm's syntax. Excludes blanks, quotes,
 * expansions and comments. */
bool sbatch_words_value(const char *s);
/* The name of an sbatch option: "mail-user". */
bool sbatch_words_option(const char *s);
/* The name of an environment module: "mpi/openmpi-4.1". */
bool sbatch_words_module(const char *s);
/* Usable as the folder of a job. Slurm expands '%' and '\' in paths. */
bool sbatch_words_path(const char *s);
/* One line without control characters. */
bool sbatch_words_line(const char *s);
