/* SPDX-License-Identifier: Apache-2.0
 *
 * Run folders: what completes them, which lie below a folder, and which one stands for a section of a
 * config.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* The ledger of a run that Slurm jobs measure (cluster/campaign.h). */
#define RUNS_JOBS "jobs.jsonl"
/* The command that completes the run: resume, or submit if Slurm jobs measure it. The caller frees it. */
char *run_completed_by(const char *dir);
/* "to complete it: " and that command. A run of the verb `train` of 0.2.0 cannot be completed: it says so. The caller
 * frees it. */
char *run_how_completed(const char *dir);

/* ---- run folders ---- */

struct run_folder {
    char *dir;
    char *key;  /* sort key: platform, workload, label and run id, one per line; NULL if unsorted */
    char *host; /* of rank 0, or of its lab; "": not recorded; NULL if unsorted */
    char *section, *rank; /* NULL before runs_choose has asked for them */
};

struct runs {
    struct run_folder *v;
    size_t n;
    bool unsorted; /* set before runs_find: finds folders only, opens no recording */
};

/* True if the folder holds a launch-LL.AA.jsonl file. */
bool runs_is_run(const char *dir);
/* True if a recording holds a block of samples. A run that measured nothing (no GPU, killed too
 * early) must not replace an older one that did. A damaged recording counts as measured, so that
 * its reader reports it. */
bool runs_measured(const char *dir);

/* Adds the run folder `root`, or all run folders below it; `root` may be the name of a platform. A run
 * without a recorded line is added if it is `root`, with its path as its key; below it, it is reported and ignored. GS_OK, or reported: no such folder, or a header
 * cannot be read. */
int runs_find(struct runs *r, const char *root);
/* All run folders below the roots, sorted. GS_OK, or reported: as runs_find and runs_sort, or there
 * is no recording at all. */
int runs_below(struct runs *r, const char *const *roots, size_t n);
/* GS_OK, or GS_USAGE, reported: the same run twice. */
int runs_sort(struct runs *r);
/* Adds "P/W/RUN" for each folder ROOT/P/W/RUN with a recording, sorted. A makefile uses these names, so
 * they must be plain. GS_OK, or reported: a folder or a file in one has another name. */
int runs_names(struct words *names, const char *root);
void runs_free(struct runs *r);

/* True if the run folder has a manifest. */
bool run_is_final(const char *dir);

/* A section of a platform may have several runs; tables and figures use the one whose rank is the highest
 * (strcmp). A complete run ranks above an unfinished one. Of these, a run that measured something ranks above one
 * that did not, and then the later run above the earlier. The store keeps both texts for its view `standing`. The
 * caller frees them. */
char *runs_rank(bool complete, bool measured, const char *run_id);
/* Of a sort key. Trials and trainings of several jobs have one label: `group`, the first of the groups of
 * their cells by name, tells them apart; NULL: there is none. */
char *runs_section(const char *key, const char *group);

/* ---- which run stands for a section ---- */

/* Which recordings a verb uses if its user names a platform, or nothing.
 *
 * A platform stands for its latest run of each workload section, of the complete ones if there are
 * any. Trials and trainings of several jobs share a section: there it stands for the latest run of
 * each step. Without a name, the platform is
 * that of the latest run of this machine: of platform `local`, of a platform called like this host,
 * or recorded on this host. If there is none, it is that of the latest run below data/raw. A run
 * that measured nothing is the latest only if all others did so too. */

struct choice {
    struct runs runs; /* sorted */
    char *platform;   /* NULL: paths were named, and runs has every run below them */
    bool named, here; /* the user named the platform; it has a run of this machine */
    bool one;         /* set before runs_choice_say: only the latest run is used */
    size_t older;     /* runs of the platform that are left out */
    char *
        unfinished; /* owned; the latest of those left out for an older, complete run; NULL: none */
};

/* GS_OK or reported. runs_choice_free afterwards in any case. */
int runs_choose(struct choice *c, const char *const *args, size_t n);
/* Says in one line which platform was chosen and how to see others; nothing if paths were named. */
void runs_choice_say(const struct choice *c);
/* The latest run of the choice; NULL: none. */
const struct run_folder *runs_choice_latest(const struct choice *c);
void runs_choice_free(struct choice *c);
