/* SPDX-License-Identifier: Apache-2.0
 *
 * Imported tests as run folders like any other, but without config.ini and plan.json: a header
 * marked "imported", cells, a block a sample, and a manifest.
 */
#ifndef GS_IMPORT_WRITE_H
#define GS_IMPORT_WRITE_H

#include "import_facts.h"

/* A file and what is known of it beside its contents. */
struct imported {
    struct import *imp;
    struct facts facts;
};

/* Writes one run a file, or, with as_launches, one for all files that differ in their replicate
 * alone; tests of one file that have the same cells are launches of one run too. Prints the folder
 * of each run. GS_OK, or reported: a fact is missing or contradicts the file (GS_USAGE), the folder
 * cannot be written. What was written until then is whole. */
int import_write(struct imported *files, size_t n, const char *out, bool as_launches);

#endif
