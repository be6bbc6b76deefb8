/* SPDX-License-Identifier: Apache-2.0
 *
 * Which recordings a verb uses if its user names a platform, or nothing.
 *
 * A platform stands for its latest run of each workload section, of the complete ones if there are
 * any. Trials and trainings of several jobs share a section: there it stands for the latest run of
 * each step. Without a name, the platform is
 * that of the latest run of this machine: of platform `local`, of a platform called like this host,
 * or recorded on this host. If there is none, it is that of the latest run below data/raw. A run
 * that measured nothing is the latest only if all others did so too.
 */
#pragma once

#include "record/runs.h"

#include <stdbool.h>
#include <stddef.h>

struct choice {
    struct runs runs; /* sorted */
    char *platform;   /* NULL: paths were named, and runs has every run below them */
    bool named, here; /* the user named the platform; it has a run of this machine */
    bool one;         /* set before choice_say: only the latest run is used */
    size_t older;     /* runs of the platform that are left out */
    char *
        unfinished; /* owned; the latest of those left out for an older, complete run; NULL: none */
    char *failed;   /* owned; the latest complete run in which all cells failed; NULL: none */
};

/* GS_OK or reported. choice_free afterwards in any case. */
int choose_runs(struct choice *c, const char *const *args, size_t n);
/* Every run below the arguments, which may name platforms. */
int choose_every_run(struct choice *c, const char *const *args, size_t n);
/* The default choice. Its faults are not reported: tables may exist without recordings. */
int choose_quietly(struct choice *c);
/* Says in one line which platform was chosen and how to see others; nothing if paths were named. */
void choice_say(const struct choice *c);
/* The latest run of the choice; NULL: none. */
const struct run_folder *choice_latest(const struct choice *c);
void choice_free(struct choice *c);
