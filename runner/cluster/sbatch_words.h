/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of a config on their way into a job script where nothing may be quoted: which are safe.
 */
#ifndef GS_SBATCH_WORDS_H
#define GS_SBATCH_WORDS_H

#include <stdbool.h>

/* Can it stand in a #SBATCH line as it is? Letters, digits and the marks that Slurm's own syntax
 * uses; nothing that separates, quotes, expands or begins a comment. */
bool sbatch_words_value(const char *s);
/* The name of an sbatch option: "mail-user". */
bool sbatch_words_option(const char *s);
/* The name of an environment module: "mpi/openmpi-4.1". */
bool sbatch_words_module(const char *s);
/* Can it be the path of a job's folder? Slurm has its own use for '%' and '\'. */
bool sbatch_words_path(const char *s);
/* One line of text, whatever it says. */
bool sbatch_words_line(const char *s);

#endif
