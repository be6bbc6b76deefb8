/* SPDX-License-Identifier: Apache-2.0
 *
 * What the plugin holds: once a process, and for each prepared cell.
 */
#ifndef WAN_SYNC_H
#define WAN_SYNC_H

#include "wan_sync/sync/sites.h"
#include "wan_sync/sync/train.h"
#include "wan_sync/transport/lines.h"

#include <mpi.h>

struct self {
    const struct wl_host *host;
    MPI_Comm comm;
    struct lines lines;
    struct pattern pattern;
    struct inside_gpu gpu;
    float *buffer[3]; /* the gradient; of the outer step: parameters, momentum */
    size_t bytes[3];
};

struct prepared {
    struct self *self;
    struct cell cell;
    struct sites sites;
    struct line *line;   /* NULL: strategy=mpi */
    struct line *inside; /* NULL, and gpu as well: no site does anything of its own first */
    struct inside_gpu *gpu;
    int *rank_of;
    double *share;
    struct sync_parts parts;
    struct sync *sync;
    struct compute *compute;
    enum wl_status verdict; /* of the last sample */
    uint64_t bits;          /* a hash of its sum */
    char why[256];
};

/* Why a call is about to fail; gives WL_FAIL. */
enum wl_status wan_failed(const struct self *s, const char *why);

enum wl_status wan_prepare(void *self, const void *cell, void **prepared);
void wan_release(void *prepared);
/* The synchronisations of a cell, made anew when a link was mended or another cell needed a larger
 * buffer. False: no memory. */
bool wan_make_sync(struct prepared *p);
/* The gradient, or the sum. */
float *wan_data(const struct prepared *p);
/* Of the exchange between sites. */
int wan_members(const struct prepared *p);

#endif
