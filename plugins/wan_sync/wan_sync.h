/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of the plugin: one per process, and one per prepared cell.
 */
#pragma once

#include "wan_sync/sync/sites.h"
#include "wan_sync/sync/train.h"
#include "wan_sync/transport/lines.h"
#include "wan_sync/transport/silence.h"

#include <mpi.h>

struct self {
    const struct wl_host *host;
    MPI_Comm comm;
    struct lines lines;
    struct silence *silence; /* NULL: not watched */
    struct pattern patterns[PATTERNS];
    struct inside_gpu gpu;
    float *buffer; /* the gradient */
    size_t bytes;
};

struct prepared {
    struct self *self;
    struct cell cell;
    struct sites sites;
    struct line *line;   /* NULL: strategy=mpi */
    struct line *inside; /* NULL, and gpu too: ranks do not sum inside their site first */
    struct inside_gpu *gpu;
    int *rank_of;
    double *share;
    struct sync_parts parts;
    struct sync *sync;
    const struct pattern *pattern;
    float *residual; /* NULL: no feedback */
    size_t samples;
    float *errors;          /* of the first elements, summed over the samples */
    enum wl_status verdict; /* on the last sample */
    uint64_t bits;          /* hash of its sum */
    char why[256];
};

/* Reports why a call fails. Returns WL_FAIL. */
enum wl_status wan_failed(const struct self *s, const char *why);

/* A cut network ends the run after `timeout`. */
void wan_watch(const struct prepared *p);
enum wl_status wan_prepare(void *self, const void *cell, void **prepared);
void wan_release(void *prepared);
/* Makes the synchronisations of a cell again after a link was reopened, or after another cell
 * needed a larger buffer. False: no memory. */
bool wan_make_sync(struct prepared *p);
void wan_note_ranks(const struct self *s, const char *key, const int *x, int n);
/* In choose.c. wan_choose replaces strategy=auto by the strategy with the shortest expected time;
 * wan_order_ring sorts rank_of into the fastest ring. Collective. False: see lines.why. */
bool wan_choose(struct prepared *p);
bool wan_order_ring(struct prepared *p);
/* The buffer: the gradient before a synchronisation, the sum after it. */
float *wan_data(const struct prepared *p);
#define WAN_ERRORS_MOST 65536 /* elements whose errors are summed */
size_t wan_errors(const struct cell *c);
/* Of the exchange between sites. */
int wan_members(const struct prepared *p);
