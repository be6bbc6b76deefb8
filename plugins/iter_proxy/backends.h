/* SPDX-License-Identifier: Apache-2.0
 *
 * The backends of one process. The first cell that needs a backend finds, loads and opens it.
 */
#pragma once

#include "iter_proxy/backend.h"

#include <mpi.h>
#include <stdatomic.h>

#define BACKEND_KINDS 3 /* by enum proxy_backend_kind; PROXY_AUTO stays empty */

struct backend {
    const struct proxy_backend *ops;
    void *library; /* NULL: linked in */
    void *state;
    _Atomic bool open; /* abort() comes from another thread */
    bool refused;      /* could not be opened here */
};

struct backends {
    const struct wl_host *host;
    MPI_Comm comm; /* for agreement between ranks on the backend */
    struct backend of[BACKEND_KINDS];
};

enum wl_status backends_open(struct backends *b, const struct wl_host *host);
void backends_close(struct backends *b);

/* Opens this backend on every rank. All ranks get the same status; host->fail() has the reason. */
enum wl_status backends_use(struct backends *b, enum proxy_backend_kind kind);
/* Has backends_use() failed to open this backend? */
bool backends_refused(const struct backends *b, enum proxy_backend_kind kind);

/* Returns the worst status of all ranks and reports it; `why` is this rank's reason. Collective. */
enum wl_status backends_agree(struct backends *b, enum wl_status mine, const char *why);

void backends_abort(struct backends *b);
