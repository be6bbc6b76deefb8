/* SPDX-License-Identifier: Apache-2.0
 *
 * The step times in the lines that a command prints.
 */
#pragma once

#include "base/text.h"
#include "config/train_settings.h"

#include <stddef.h>
#include <stdint.h>

struct train_step {
    uint64_t ns;
    double at; /* Unix seconds at which its line came */
};

struct train_times;
struct train_times *train_times_new(const struct train_settings *s);
void train_times_free(struct train_times *t);
AUTO_POINTER(struct train_times, train_times_free)
/* A terminated line, which may be changed. */
void train_times_line(struct train_times *t, char *line, double at);
size_t train_times_get(const struct train_times *t, const struct train_step **steps);
/* What is wrong with the first number that is not a time; "": nothing. */
const char *train_times_wrong(const struct train_times *t);
