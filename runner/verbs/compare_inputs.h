/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what `gradsync compare` compares.
 */
#pragma once

#include "compare/compare.h"
#include "compare/filter.h"
#include "record/choose_runs.h"

struct compare_request {
    const char *out, *best_of, *baseline, *fail_if;
    struct compare_filter filter;
    bool again, quiet, all, json;
    char **args;
    size_t n;
};

/* Adds the contrasts that the request asks for. *choice gets the runs whose load matters. */
int compare_collect(struct comparison *c, const struct compare_request *q, struct choice *choice);
/* GS_OK; or GS_USAGE, reported: options that exclude each other. */
int compare_check(const struct compare_request *q);
/* Says why there is no contrast. */
int compare_nothing(const struct compare_request *q, const struct choice *choice);
