/* SPDX-License-Identifier: Apache-2.0
 *
 * A mock of libnccl.so.2 and libcuda.so.1: prints what it is called with, and communicates nothing. A
 * communicator has two ranks. A stream is captured if it is not NULL. With mock_clock.c, a collective takes
 * mock_ns for each element by its clock.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int rank(void)
{
    const char *r = getenv("RANK");
    return r ? atoi(r) : 0;
}

long mock_ns;
extern long mock_clock_ns __attribute__((weak));

static int say(const char *name, size_t count)
{
    if (mock_ns && *name != 'c') /* a copy */
        mock_clock_ns += mock_ns * (long)count;
    static int quiet = -1;
    if (quiet < 0)
        quiet = getenv("MOCK_QUIET") != NULL;
    if (!quiet)
        printf("%s %zu\n", name, count);
    return 0;
}

typedef void *p;
/* clang-format off */
int ncclGetVersion(int *v) { *v = 22809; return 0; }
int ncclCommCount(p c, int *n) { *n = c ? 2 : 1; return 0; }
int ncclCommUserRank(p c, int *r) { (void)c; *r = rank(); return 0; }
int ncclCommDestroy(p c) { (void)c; return say("destroy", 0); }
int ncclCommAbort(p c) { (void)c; return say("abort", 0); }
int ncclGroupStart(void) { return 0; }
int ncclGroupEnd(void) { return 0; }
int ncclAllReduce(p s, p r, size_t n, int t, int o, p c, p st) { (void)s, (void)r, (void)t, (void)o, (void)c, (void)st; return say("allreduce", n); }
int ncclReduce(p s, p r, size_t n, int t, int o, int to, p c, p st) { (void)s, (void)r, (void)t, (void)o, (void)to, (void)c, (void)st; return say("reduce", n); }
int ncclBroadcast(p s, p r, size_t n, int t, int o, p c, p st) { (void)s, (void)r, (void)t, (void)o, (void)c, (void)st; return say("broadcast", n); }
int ncclBcast(p b, size_t n, int t, int o, p c, p st) { (void)b, (void)t, (void)o, (void)c, (void)st; return say("broadcast", n); }
int ncclAllGather(char *s, char *r, size_t n, int t, p c, p st) { (void)t, (void)c, (void)st; return say(s == r + (size_t)rank() * n * 4 ? "allgather in place" : "allgather", n); }
int ncclReduceScatter(char *s, char *r, size_t n, int t, int o, p c, p st) { (void)t, (void)o, (void)c, (void)st; return say(r == s + (size_t)rank() * n * 4 ? "reducescatter in place" : "reducescatter", n); }
int ncclAlltoAll(p s, p r, size_t n, int t, p c, p st) { (void)s, (void)r, (void)t, (void)c, (void)st; return say("alltoall", n); }
int ncclSend(p s, size_t n, int t, int to, p c, p st) { (void)s, (void)t, (void)to, (void)c, (void)st; return say("send", n); }
int ncclRecv(p s, size_t n, int t, int to, p c, p st) { (void)s, (void)t, (void)to, (void)c, (void)st; return say("recv", n); }
int cuStreamIsCapturing(p st, int *status) { *status = st != NULL; return 0; }
int cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t n, p st) { (void)to, (void)from, (void)st; return say("copy bytes", n); }
