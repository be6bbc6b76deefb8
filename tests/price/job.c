/* SPDX-License-Identifier: Apache-2.0
 *
 * A job over the mock of NCCL, as a shared object (job.so) that a program opens as Python opens PyTorch, so that
 * NCCL is not in the global scope.
 *   calls [captured]   each function once, after a small all-reduce and a broadcast of parameters
 *   steps N            steps of three collectives and an uneven all-to-all, in two processes
 *   known N [BESIDE [LATE]]   the same by the clock of mock_clock.c: 4 ms of collectives, BESIDE % of them (0) beside
 *                      a computation of 4 ms, or of 4 and LATE ms on rank 1, for which rank 0 waits; 20 of 150
 *                      steps in a row have collectives four times as long, as if others used the machine
 *   graph N            the same, of which the eleventh is captured, and the rest make no calls
 *   cost N             N steps without a pause; the first rank prints the nanoseconds of a call
 *   alone              a communicator of one rank
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void *p;
int ncclAllReduce(p, p, size_t, int, int, p, p), ncclReduce(p, p, size_t, int, int, int, p, p);
int ncclBroadcast(p, p, size_t, int, int, p, p), ncclBcast(p, size_t, int, int, p, p);
int ncclAllGather(p, p, size_t, int, p, p), ncclReduceScatter(p, p, size_t, int, int, p, p);
int ncclAlltoAll(p, p, size_t, int, p, p), ncclSend(p, size_t, int, int, p, p);
int ncclRecv(p, size_t, int, int, p, p), ncclGroupStart(void), ncclGroupEnd(void);
int ncclCommDestroy(p);
extern long mock_ns, mock_clock_ns __attribute__((weak));
void run(int argc, char **argv);

#define N 100000
enum { FLOAT = 7 };
static float a[4 * N], b[4 * N];
static p comm = a;

static void calls(p stream)
{
    ncclAllReduce(a, a, 4, FLOAT, 0, comm, stream);
    ncclBroadcast(a, a, N, FLOAT, 0, comm, stream);
    ncclAllReduce(a, a, N, FLOAT, 0, comm, stream);
    ncclAllReduce(a, b, N, FLOAT, 0, comm, stream);
    ncclReduce(a, b, N, FLOAT, 0, 0, comm, stream);
    ncclBcast(a, N, FLOAT, 0, comm, stream);
    ncclAllGather(a, b, N, FLOAT, comm, stream);
    ncclAllGather(b + N, b, N, FLOAT, comm, stream);
    ncclReduceScatter(a, b, N, FLOAT, 0, comm, stream);
    ncclReduceScatter(a, a + N, N, FLOAT, 0, comm, stream);
    ncclAlltoAll(a, b, N, FLOAT, comm, stream);
    ncclGroupStart();
    ncclSend(a, N, FLOAT, 1, comm, stream);
    ncclRecv(b, 10, FLOAT, 1, comm, stream);
    ncclGroupEnd();
    ncclCommDestroy(comm);
}

static void steps(int rank, long n, long graph, bool known, long beside, long late, bool pause)
{
    struct timespec begun, ended;
    long before = 0;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (long i = 0; i < n; i++) {
        p stream = graph && i == graph ? a : NULL;
        if (graph && i > graph)
            break;
        if (known) {
            mock_ns = i % 150 < 20 ? 40 : 10;
            mock_clock_ns += i ? 4000000 + rank * late * 1000000 : 1000000000;
            before = mock_clock_ns;
        }
        ncclAllGather(a, b, N, FLOAT, comm, stream);
        ncclReduceScatter(a, b, N, FLOAT, 0, comm, stream);
        ncclAllReduce(a, a, 4, FLOAT, 0, comm, stream);
        ncclGroupStart();
        ncclSend(a, (size_t)(N + 10 * rank), FLOAT, 1 - rank, comm, stream);
        ncclRecv(b, (size_t)(N + 10 * (1 - rank)), FLOAT, 1 - rank, comm, stream);
        ncclGroupEnd();
        if (known) {
            long took = mock_clock_ns - before;
            bool waits = !rank && took > 4 * mock_ns; /* the small all-reduce is never left out */
            mock_clock_ns += (waits ? late * 1000000 : 0) - took * beside / 100;
        }
        if (pause)
            usleep(500);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double ns =
        1e9 * (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec);
    if (!pause && !rank)
        printf("%.0f\n", ns / 5 / (double)n);
}

void run(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "calls";
    if (!strcmp(what, "calls"))
        calls(argc > 2 ? a : NULL);
    if (!strcmp(what, "alone"))
        ncclAllReduce(a, a, N, FLOAT, 0, NULL, NULL);
    if (strcmp(what, "steps") && strcmp(what, "known") && strcmp(what, "graph") &&
        strcmp(what, "cost"))
        return;
    for (int rank = 0; rank < 2; rank++)
        if (fork() == 0) {
            setenv("RANK", rank ? "1" : "0", 1);
            steps(rank, atol(argv[2]), *what == 'g' ? 10 : 0, *what == 'k',
                  argc > 3 ? atol(argv[3]) : 0, argc > 4 ? atol(argv[4]) : 0, *what != 'c');
            exit(0);
        }
    while (wait(NULL) > 0)
        ;
}
