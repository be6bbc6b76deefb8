/* SPDX-License-Identifier: Apache-2.0
 *
 * Imported tests as launches of recordings, and the platform that they belong to.
 */
#pragma once

#include "config/settings.h"
#include "import/import.h"
#include "import/import_facts.h"

struct import_platform {
    struct config *config;
    struct settings set;
};

/* Is the text the path of a config, not the name of a platform? */
bool import_platform_is(const char *text);
/* GS_OK or reported. */
int import_platform_read(struct import_platform **out, const char *path);
void import_platform_free(struct import_platform *p);

/* A file, and what the user says about it. */
struct imported {
    struct import *imp;
    struct facts facts;
    const struct import_platform *at; /* not owned; NULL: no config names the platform */
};

/* Writes a run for each file; tests of one file with the same cells are launches of one run. With
 * as_launches, files of the same platform, workload, ranks and contention are launches of one run;
 * their configs may differ. Prints the folder of each run. GS_OK; or reported: a fact is missing or
 * contradicts the file, two files have the same bytes (GS_USAGE), or a folder cannot be written.
 * Runs that were written before that are whole. */
int import_write(struct imported *files, size_t n, const char *out, bool as_launches);
