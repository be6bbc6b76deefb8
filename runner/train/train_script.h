/* SPDX-License-Identifier: Apache-2.0
 *
 * The user's command with the values of a cell in it.
 */
#pragma once

#include "plan/plan.h"

struct train_filling {
    const struct plan *plan;
    const struct cell *cell;
    int launch;
};

/* The text with its placeholders filled in; the caller frees it. */
char *train_filled(const struct train_filling *f, const char *text);
/* A script of a shell: the variables of the cell, then the command, filled in; the caller frees it. */
char *train_script(const struct train_filling *f, const char *command);
