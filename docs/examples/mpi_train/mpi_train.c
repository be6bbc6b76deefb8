/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that trains as far as communication goes: in each step a computation of a known time, and an
 * all-reduce of the gradients in buckets. It knows nothing of gradsync.
 *
 *   mpirun -n 2 mpi_train [KEY=VALUE]...
 *     steps=2000        steps; 0: without end
 *     compute_ms=10     computation of a step
 *     rest=0            1: the computation sleeps, for a machine whose processors are busy
 *     MiB=8 buckets=4   gradients, in so many all-reduces a step
 *     overlap=none      none: after the computation; all: beside it; half: half of them beside it
 *     late_rank=-1 late_ms=0    this rank computes longer, in every step
 *     eval=0            an evaluation after every so many steps: a computation and a small all-reduce
 *     loss=0            after every so many steps: a small all-reduce of the loss
 *     comm=1            0: leave the all-reduces out, to see what a price should be
 *     need=0            1: end with an error if a sum is wrong; 2: hang
 *
 * Rank 0 prints the time of a step every 100 steps.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long steps = 2000, mib = 8, buckets = 4, late_rank = -1, eval, loss_every, comm = 1, need,
            rest;
static double compute_ms = 10, late_ms;
static const char *overlap = "none";

static int set(const char *word)
{
    const char *value = strchr(word, '=');
    size_t n = value ? (size_t)(value - word) : 0;
    const struct {
        const char *name;
        long *number;
        double *real;
    } keys[] = {{"steps", &steps, NULL},
                {"MiB", &mib, NULL},
                {"buckets", &buckets, NULL},
                {"late_rank", &late_rank, NULL},
                {"eval", &eval, NULL},
                {"loss", &loss_every, NULL},
                {"comm", &comm, NULL},
                {"need", &need, NULL},
                {"rest", &rest, NULL},
                {"late_ms", NULL, &late_ms},
                {"compute_ms", NULL, &compute_ms}};
    for (size_t i = 0; value && i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].name) == n && !strncmp(word, keys[i].name, n)) {
            if (keys[i].number)
                *keys[i].number = atol(value + 1);
            else
                *keys[i].real = atof(value + 1);
            return 0;
        }
    if (n == 7 && !strncmp(word, "overlap", n)) {
        overlap = value + 1;
        return 0;
    }
    fprintf(stderr, "mpi_train: unknown word '%s'\n", word);
    return 2;
}

/* Takes its time by the clock, and lets MPI progress as a communication thread would. */
static void compute(double ms, MPI_Request *requests, int n)
{
    double end = MPI_Wtime() + ms / 1e3;
    int done;
    while (MPI_Wtime() < end) {
        if (n)
            MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
        double left = n ? 1e-4 : end - MPI_Wtime();
        if (rest && left > 0)
            nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * (left < 0.9 ? left : 0.9))}, NULL);
    }
}

/* The first bucket is smaller, as that of DDP: by this the step can be recognised. */
static int size_of(int i, size_t part)
{
    return (int)(i ? part : part - part / 8);
}

static void step(float *gradients, size_t elements, int rank, MPI_Request *requests)
{
    int n = (int)buckets;
    int beside = !comm || !strcmp(overlap, "none") ? 0 : !strcmp(overlap, "half") ? n / 2 : n;
    size_t part = elements / (size_t)n;
    for (int i = 0; i < beside; i++)
        MPI_Iallreduce(MPI_IN_PLACE, gradients + (size_t)i * part, size_of(i, part), MPI_FLOAT,
                       MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    compute(compute_ms + (rank == late_rank ? late_ms : 0), requests, beside);
    if (beside)
        MPI_Waitall(beside, requests, MPI_STATUSES_IGNORE);
    for (int i = beside; i < n && comm; i++)
        MPI_Allreduce(MPI_IN_PLACE, gradients + (size_t)i * part, size_of(i, part), MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD);
}

/* The loss decides what a real job does next. */
static void loss_of(int rank)
{
    double loss = 1.0 + rank, all = 0;
    MPI_Allreduce(&loss, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (all <= 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int rank, ranks, code = 0;
    for (int i = 1; i < argc; i++)
        if (set(argv[i]))
            return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t elements = (size_t)mib * 1024 * 1024 / sizeof(float);
    float *gradients = calloc(elements, sizeof *gradients);
    MPI_Request *requests = calloc((size_t)buckets + 2, sizeof *requests);
    if (!gradients || !requests || buckets < 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
    double begun = MPI_Wtime();
    for (long i = 1; (i <= steps || !steps) && !code; i++) {
        gradients[0] = 1;
        step(gradients, elements, rank, requests);
        if (loss_every && i % loss_every == 0)
            loss_of(rank);
        if (need && comm && gradients[0] != (float)ranks)
            code = 1;
        while (code && need == 2)
            compute(1000, requests, 0);
        if (eval && i % eval == 0) {
            compute(compute_ms, requests, 0);
            for (int k = 0; k < 3; k++)
                loss_of(rank);
        }
        if (rank == 0 && i % 100 == 0) {
            printf("step %ld: %.3f ms\n", i, 10 * (MPI_Wtime() - begun));
            fflush(stdout);
            begun = MPI_Wtime();
        }
    }
    free(gradients);
    free(requests);
    MPI_Finalize();
    return code;
}
