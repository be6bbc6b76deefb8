/* SPDX-License-Identifier: Apache-2.0
 *
 * The backends of one process: found, loaded and opened when a cell first asks for one.
 */
#ifndef BACKENDS_H
#define BACKENDS_H

#include "iter_proxy/backend.h"

#include <mpi.h>
#include <stdatomic.h>

#define BACKEND_KINDS 3 /* by enum proxy_backend_kind; PROXY_AUTO stays empty */

struct backend {
    const struct proxy_backend *ops;
    void *library; /* NULL: linked in */
    void *state;
    _Atomic bool open; /* abort() comes from another thread */
    bool refused;      /* was tried and cannot run here */
};

struct backends {
    const struct wl_host *host;
    MPI_Comm comm; /* the ranks agree over it which backend they have */
    struct backend of[BACKEND_KINDS];
};

enum wl_status backends_open(struct backends *b, const struct wl_host *host);
void backends_close(struct backends *b);

/* That backend, open on every rank, or why not, through host->fail(); the same answer everywhere.
 */
enum wl_status backends_use(struct backends *b, enum proxy_backend_kind kind);
/* Has backends_use() said no to it? */
bool backends_refused(const struct backends *b, enum proxy_backend_kind kind);

void backends_abort(struct backends *b);

#endif
