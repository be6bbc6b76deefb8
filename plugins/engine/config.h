/* SPDX-License-Identifier: Apache-2.0
 *
 * The config of the engine; engine.h describes the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_ARMS 32
#define ENGINE_STEPS 256 /* a visit at most */
#define ENGINE_ID 32

/* How much of a collective to communicate. */
enum engine_part { PART_ALL, PART_HALF, PART_ONE, PART_NONE };
#define ENGINE_PARTS 4

struct engine_arm {
    char id[ENGINE_ID];
    enum engine_part part;
    bool copy;
    char *library;                /* of the copy; NULL: the job's */
    char **set, **without, **mpi; /* "NAME=VALUE", "NAME", "CVAR=VALUE" */
    size_t n_set, n_without, n_mpi;
};

struct engine_config {
    char *out;
    struct engine_arm arms[ENGINE_ARMS];
    size_t n_arms;
    uint64_t seed, visit_ms, seconds, calls;
    uint64_t bytes_least, bytes_most, wait_s, margin_MiB, later, keep, percent;
};

/* NULL: `why` says what is wrong, and where: "FILE:LINE: ...". Never freed. */
struct engine_config *engine_config_read(const char *path, char *why, size_t n);
/* Adds the arms of a file. False: as above. */
bool engine_config_arms(struct engine_config *c, const char *path, char *why, size_t n);
const char *engine_part_name(enum engine_part part);
