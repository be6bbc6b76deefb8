/* SPDX-License-Identifier: Apache-2.0
 *
 * Imported tests as run folders like any other, but without config.ini and plan.json: a header
 * marked "imported", cells, a block a sample, and a manifest.
 */
#ifndef GS_IMPORT_WRITE_H
#define GS_IMPORT_WRITE_H

#include "import/import_facts.h"
#include "import/import_platform.h"

/* A file and what is known of it beside its contents. */
struct imported {
    struct import *imp;
    struct facts facts;
    const struct import_platform *at; /* lent; NULL: no config says where */
};

/* Writes one run a file, or, with as_launches, one for all files of one platform, workload, number
 * of ranks and contention, each of them a launch; their configs may differ, and compare then
 * contrasts them. Tests of one file that have the same cells are launches of one run too. Prints
 * the folder of each run. GS_OK, or reported: a fact is missing or contradicts the file (GS_USAGE),
 * the same bytes are there twice, the folder cannot be written. What was written until then is
 * whole. */
int import_write(struct imported *files, size_t n, const char *out, bool as_launches);

#endif
