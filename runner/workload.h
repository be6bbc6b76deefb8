/* SPDX-License-Identifier: Apache-2.0
 *
 * workload.h: the one header a gradsync plugin includes.
 *
 * A plugin is a shared object that exports one constant, wl_plugin_v1. It declares its
 * parameters and metrics in tables; the runner parses, checks, documents and sweeps them,
 * and owns order, warm-up, iterations per sample, stopping, statistics, recording, deadlines
 * and retries. A plugin never prints, exits, reads the environment or argv, writes files or
 * does statistics. Everything here is append-only within a version.
 *
 * Units are SI base units in the name: _s seconds, _ns nanoseconds, _B bytes.
 * `size` is always the bytes of the buffer on one rank.
 */
#ifndef GRADSYNC_WORKLOAD_H
#define GRADSYNC_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WL_SYMBOL "wl_plugin_v1"
#define WL_TEXT_MAX 64 /* bytes of a WL_TEXT member, terminator included */
#define WL_METRICS_MAX 16
#define WL_WARNING "warning" /* the key of a note that the user is told as well, once a run */

/* The result of a call. Before any status but WL_OK, the call gives its reason by host->fail() or in
 * `why`. After WL_LOST from prepare(), sample() or verify() the process ends, and new ones measure the
 * rest; a gradsync older than 1.6 takes it for WL_FAIL. */
enum wl_status {
    WL_OK,
    WL_SKIP,  /* this machine cannot do it: recorded with the reason, and the run continues */
    WL_RETRY, /* this sample is invalid; take it again */
    WL_FAIL,  /* it should have worked and did not */
    WL_LOST   /* the same, and this process can measure no more: its GPU keeps the error */
};

enum wl_type {            /* C type of the member, and what a user writes */
               WL_INT,    /* int64_t          3, 4k, 1M (powers of 1000) */
               WL_SIZE,   /* uint64_t         8, 64KiB, 1GB; bytes */
               WL_REAL,   /* double           0.97, 5% */
               WL_TIME,   /* double           200ms, 3us, 1h; seconds */
               WL_RATE,   /* double           900GB/s, 25Gbit/s; bytes a second */
               WL_BOOL,   /* bool             yes, no */
               WL_CHOICE, /* int              index into choices[] */
               WL_TEXT    /* char[WL_TEXT_MAX] */
};

/* Where a parameter stands in a comparison. Cells that agree in every WL_AXIS parameter form a
 * group: they are prepared together and visited in the same blocks. */
enum wl_role {
    WL_AXIS,   /* an independent variable: another value is another group */
    WL_CONFIG, /* the tuning under comparison: its values name the config, e.g. "ring/LL128" */
    WL_MODE    /* measured in the same block, contrasted only with the same mode of other configs */
};

/* One ini key and one column. `def` is text and goes through the user's own parser. */
struct wl_param {
    const char *name;
    enum wl_type type;
    enum wl_role role;
    size_t offset; /* WL_FIELD(struct, member, C type) */
    const char *unit;
    const char *def;
    double min, max;            /* inclusive; both 0: no bound */
    const char *const *choices; /* NULL-terminated; WL_CHOICE alone */
    const char *help;           /* one line */
};

/* offsetof, refused by the compiler when the member is not of the C type that `type` fills. */
#define WL_FIELD(S, member, ctype)                                                                 \
    (offsetof(S, member) + 0 * sizeof(&((S *)0)->member == (ctype *)0))
/* For WL_TEXT members. */
#define WL_TEXT_FIELD(S, member)                                                                   \
    (offsetof(S, member) + 0 * sizeof(&((S *)0)->member == (char(*)[WL_TEXT_MAX])0))

/* How the values of the ranks become one. WL_EACH: the mean, and the recording also has the value of
 * every rank (a gradsync older than 1.4 records the mean alone). */
enum wl_across { WL_MAX, WL_SUM, WL_MEAN, WL_EACH };

/* metrics[0] is the time of one iteration, "time" in "s"; it steers the stopping rule. */
struct wl_metric {
    const char *name, *unit, *help;
    enum wl_across across;
};

/* The ranks; known before anything is opened. */
struct wl_job {
    size_t size;
    int ranks, nodes, local_ranks; /* local_ranks: on one node */
};

/* Facts about a cell, known before anything is allocated. The runner zeroes it before describe(). */
struct wl_shape {
    size_t size;
    uint64_t size_B;           /* payload on one rank; 0: none */
    double busbw_factor;       /* busbw = size_B / time * factor, e.g. 2(n-1)/n; 0: no collective */
    uint64_t host_B, device_B; /* memory prepare() takes on one rank */
    double iteration_s;        /* rough time of one iteration, for the plan */
    unsigned iters_min, iters_max; /* iterations in one sample; 0: no bound */
    bool span; /* isolated latency: the runner takes max(end_ns) - min(start_ns) over ranks */
    bool config_free; /* does not depend on the WL_CONFIG parameters: measured once per group */
    bool settled;     /* sample() begins with untimed iterations of its own, so the runner discards
                         no samples after a switch of config */
};

/* Belongs to the runner; valid from open() to close(). Every rank makes the collective calls. */
struct wl_host {
    size_t size;
    int rank, ranks, local_rank, local_ranks, node, nodes;
    uint64_t seed; /* the same on every rank */
    void *ctx;
    void (*barrier)(void *ctx);
    void (*bcast)(void *ctx, void *buf, size_t bytes, int root);
    /* Gives the reason before a call returns anything but WL_OK. Like printf; the last text counts. */
    void (*fail)(void *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
    /* Notes a fact about the prepared cell in the recording (e.g. "algorithm", "ring"). May be called
     * from open(), prepare() and sample(). If something works, but not as the user may expect, note it
     * under WL_WARNING, in one line that names the remedy. */
    void (*note)(void *ctx, const char *key, const char *value);
    /* Returns on all ranks at nearly the same time, whatever clocks their nodes have. (A barrier
     * releases its first rank earlier than its last, between sites by half a round trip.) May be
     * called from sample(). NULL in a gradsync older than 1.1. */
    void (*start)(void *ctx);
    /* The copy of the cell that prepare() is called for: 0, or 1 for the second copy of a baseline
     * (A/A). Make everything that two configs do not share, such as a communicator, anew for copy 1:
     * otherwise the difference of the copies is smaller than that of two equal configs. Set before
     * each prepare(). Not in a gradsync older than 1.2. */
    int copy;
    /* Reports that the network to that host is cut (not that a program is slow). The launcher learns it
     * without MPI, ends the run within two seconds, and names the host that most others have lost.
     * Any thread may call it. NULL inside a site; not in a gradsync older than 1.4. */
    void (*lost)(void *ctx, const char *host);
};

/* One sample of `iters` iterations on this rank. */
struct wl_sample {
    size_t size;
    double values[WL_METRICS_MAX]; /* one per metric; values[0] in seconds per iteration */
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC around the operation; skew comes from start_ns */
};

struct wl_plugin {
    size_t size; /* sizeof(struct wl_plugin): a member is read only if size covers it */
    const char *name, *version, *summary;
    const struct wl_param *params;   /* ends with a NULL name */
    size_t cell_size;                /* sizeof the struct that params fill */
    const struct wl_metric *metrics; /* ends with a NULL name */

    /* Pure: no state, no device, callable anywhere, before open() too. Judges a cell (ranks < 2
     * for a collective, size not a multiple of the element) and says what it needs. */
    enum wl_status (*describe)(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                               char *why, size_t why_size);

    /* Once per process; close() undoes it. Collective. */
    enum wl_status (*open)(void **self, const struct wl_host *host);
    void (*close)(void *self);

    /* Sets *prepared, not to NULL. Several cells are prepared at once; release() undoes one. Collective,
     * in the same order on every rank; each launch has another order. The buffers' contents are random
     * or exact-sum patterns, never zeros. */
    enum wl_status (*prepare)(void *self, const void *cell, void **prepared);
    void (*release)(void *prepared);

    /* Runs `iters` iterations, timed by this rank. Collective. Before, untimed, it fills the outputs
     * with values that no correct result has. */
    enum wl_status (*sample)(void *prepared, unsigned iters, struct wl_sample *out);

    /* After a block: checks on this rank the result of the operation that was just timed. */
    enum wl_status (*verify)(void *prepared);

    /* Optional. Called from another thread after the deadline: makes a hung call return WL_FAIL. */
    void (*abort)(void *self);

    /* Optional: the names of parameters that were added to the plugin after it was used for recordings,
     * NULL-terminated. A cell in which such a parameter has its default has the same id and parameters
     * as in the older recordings. Not in a gradsync older than 1.3. */
    const char *const *added;
};

#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
extern const struct wl_plugin wl_plugin_v1;

#ifdef __cplusplus
}
#endif
#endif
