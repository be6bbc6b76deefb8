/* SPDX-License-Identifier: Apache-2.0
 *
 * Every algorithm of plugins/common/mpi_calls.c on both types and awkward counts, in
 * place and not, against MPI_Allreduce and against the payload's own claim; in place, up to three
 * times over where that is exact. Run by test_workloads.sh as mpirun -n N allreduce; rank
 * 0 prints what is wrong, and the exit code is 1.
 */
#include "common/mpi_calls.h"
#include "common/payload.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
    int rank, ranks, faults, checks;
    MPI_Comm comm;
};

struct buffers {
    char *in, *out, *scratch, *reference;
    size_t bytes;
};

struct kind {
    enum payload_type type;
    bool in_place;
};

static MPI_Datatype type_of(enum payload_type t)
{
    return t == PAYLOAD_FP32 ? MPI_FLOAT : MPI_DOUBLE;
}

static void fault(struct world *w, enum allreduce_kind a, struct kind k, int count,
                  const char *what)
{
    w->faults++;
    fprintf(stderr, "rank %d of %d: %s %s, %d elements%s: %s\n", w->rank, w->ranks,
            mpi_allreduces[a].name, payload_dtypes[k.type].name, count,
            k.in_place ? ", in place" : "", what);
}

/* Guard bytes around what may be written. */
static bool guarded(const char *p, size_t bytes)
{
    return p[-1] == 0x5a && p[bytes] == 0x5a;
}

static void check_one(struct world *w, enum allreduce_kind a, struct kind kind, int count,
                      struct buffers *b)
{
    struct payload_words p;
    struct payload_fault f;
    const size_t element_B = payload_dtypes[kind.type].size_B, bytes = (size_t)count * element_B;
    size_t scratch_B = mpi_scratch_B(a, (size_t)count, element_B, w->ranks, kind.in_place);
    char *send = kind.in_place ? b->out : b->in;
    struct mpi_call c = {send,    b->out,  count,   element_B, type_of(kind.type),
                         MPI_SUM, w->comm, w->rank, w->ranks,  b->scratch};
    payload_words_make(&p, kind.type, w->rank, w->ranks, kind.in_place, 1);
    memset(b->out, 0xff, bytes);
    b->out[bytes] = b->scratch[scratch_B] = 0x5a;
    payload_fill(&p, b->in, (size_t)count);
    if (kind.in_place)
        payload_fill(&p, b->out, (size_t)count);
    MPI_Allreduce(b->in, b->reference, count, c.type, c.op, w->comm);
    w->checks++;
    for (unsigned k = 1; k <= (kind.in_place ? 3u : 1u); k++) {
        if (mpi_allreduces[a].run(&c) != MPI_SUCCESS)
            fault(w, a, kind, count, "did not return MPI_SUCCESS");
        if (k == 1 && memcmp(b->out, b->reference, bytes) != 0)
            fault(w, a, kind, count, "differs from MPI_Allreduce");
        if (payload_words_make(&p, kind.type, w->rank, w->ranks, kind.in_place, k) &&
            !payload_check(&p, b->out, (size_t)count, &f))
            fault(w, a, kind, count, "differs from the payload's claim");
    }
    if (!guarded(b->out, bytes) || !guarded(b->scratch, scratch_B))
        fault(w, a, kind, count, "wrote outside its buffers");
}

/* A check that cannot fail is none: one wrong bit anywhere must be seen. */
static void check_the_check(struct world *w, struct kind kind, int count, struct buffers *b)
{
    struct payload_words p;
    struct payload_fault f;
    const size_t bytes = (size_t)count * payload_dtypes[kind.type].size_B;
    payload_words_make(&p, kind.type, w->rank, w->ranks, false, 1);
    memset(b->out, 0xff, bytes);
    bool poison_seen = !payload_check(&p, b->out, (size_t)count, &f) && f.element == 0;
    payload_fill(&p, b->in, (size_t)count);
    MPI_Allreduce(b->in, b->out, count, type_of(kind.type), MPI_SUM, w->comm);
    b->out[bytes - 1] ^= 1;
    if (!poison_seen || payload_check(&p, b->out, (size_t)count, &f) ||
        f.element != (size_t)count - 1)
        fault(w, ALLREDUCE_AUTO, kind, count, "a wrong element was not found");
}

static void check_kind(struct world *w, struct kind kind, struct buffers *b)
{
    const int counts[] = {0, 1, 2, 3, w->ranks - 1, w->ranks, w->ranks + 1, 61, 1021, 4099};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int a = 0; a < ALLREDUCE_KINDS; a++)
            check_one(w, (enum allreduce_kind)a, kind, counts[i], b);
    check_the_check(w, kind, 4099, b);
}

static char *guarded_alloc(size_t bytes)
{
    char *p = malloc(bytes + 128);
    if (!p) {
        MPI_Abort(MPI_COMM_WORLD, 3);
        exit(3);
    }
    memset(p, 0x5a, bytes + 128);
    return p + 64;
}

int main(int argc, char **argv)
{
    struct world w = {.comm = MPI_COMM_WORLD};
    struct buffers b = {.bytes = 8 * 4099};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(w.comm, &w.rank);
    MPI_Comm_size(w.comm, &w.ranks);
    char **buffers[] = {&b.in, &b.out, &b.scratch, &b.reference};
    for (size_t i = 0; i < 4; i++)
        *buffers[i] = guarded_alloc(b.bytes);
    for (int i = 0; i < 4; i++)
        check_kind(&w, (struct kind){i / 2 ? PAYLOAD_FP64 : PAYLOAD_FP32, i % 2}, &b);
    for (size_t i = 0; i < 4; i++)
        free(*buffers[i] - 64);
    MPI_Allreduce(MPI_IN_PLACE, &w.faults, 1, MPI_INT, MPI_SUM, w.comm);
    if (w.rank == 0)
        printf("%d checks a rank, %d faults\n", w.checks, w.faults);
    MPI_Finalize();
    return w.faults > 0;
}
