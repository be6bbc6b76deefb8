/* SPDX-License-Identifier: Apache-2.0
 *
 * What went wrong in a start of the user's command.
 */
#pragma once

#include "config/train_settings.h"
#include "train/train_output.h"
#include "train/train_process.h"

/* Step times in a fail line, at most 20 bytes each: a line has at most RAW_LINE_MAX. */
#define TRAIN_PRINTED_MAX 300000

/* One line for the recording and the user. */
struct train_fault {
    const char *kind; /* of a fail line; NULL: none */
    char why[400];
};

/* `section`: that of the config, where 'time' stands. */
struct train_fault train_judge(const struct train_settings *set, const char *section,
                               const struct train_ended *e, const struct train_output *o,
                               const struct train_times *t);
