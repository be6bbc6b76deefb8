/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs share that time the all-reduce of another library between the sites of a lab:
 *
 *   PROGRAM FOLDER ITERATIONS BYTES…
 *
 * mpirun starts them and gives the rank. FOLDER is on this machine, and so are all sites: ranks meet
 * in a file there, start at one instant of the one clock, and rank 0 prints "BYTES SECONDS" for the
 * slowest rank, an iteration a line. The first of each size is not printed. A wrong sum ends it.
 */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PEER_RANKS 16
#define PEER_LEAD_NS 20000000 /* from the meeting to the start */

struct peer_file {
    int arrived, released;
    uint64_t start_ns, took_ns[PEER_RANKS];
};

struct peer {
    int rank, ranks, meetings;
    const char *folder;
    struct peer_file *file;
};

/* Sums count floats of all ranks in place. False: it failed. */
typedef bool (*peer_reduce)(void *self, float *data, size_t count);

static inline int peer_fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* A number that the environment gives, e.g. PEER_PARTS. */
static inline int peer_setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atoi(text) : otherwise;
}

static inline uint64_t peer_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void peer_sleep_until(uint64_t at_ns)
{
    struct timespec t = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Who comes last says when to start, and lets all go. */
static inline void peer_meet(struct peer *p)
{
    int all = p->ranks * ++p->meetings;
    if (__atomic_add_fetch(&p->file->arrived, 1, __ATOMIC_SEQ_CST) == all) {
        p->file->start_ns = peer_now() + PEER_LEAD_NS;
        __atomic_store_n(&p->file->released, p->meetings, __ATOMIC_SEQ_CST);
    }
    while (__atomic_load_n(&p->file->released, __ATOMIC_SEQ_CST) < p->meetings)
        peer_sleep_until(peer_now() + 200000);
}

static inline void peer_open(struct peer *p, int argc, char **argv)
{
    char path[4096];
    if (argc < 4)
        peer_fail("usage: PROGRAM FOLDER ITERATIONS BYTES...");
    memset(p, 0, sizeof *p);
    p->rank = peer_setting("OMPI_COMM_WORLD_RANK", 0);
    p->ranks = peer_setting("OMPI_COMM_WORLD_SIZE", 1);
    p->folder = argv[1];
    snprintf(path, sizeof path, "%s/start", p->folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (p->ranks > PEER_RANKS || fd < 0 || ftruncate(fd, sizeof *p->file))
        peer_fail("no file to meet in, or too many ranks");
    void *at = mmap(NULL, sizeof *p->file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        peer_fail("mmap failed");
    p->file = (struct peer_file *)at;
    close(fd);
}

static inline void peer_once(struct peer *p, peer_reduce reduce, void *self, float *data,
                             size_t count, bool print)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (float)(p->rank + 1 + (int)(i % 7));
    peer_meet(p);
    uint64_t start_ns = p->file->start_ns, slowest_ns = 0;
    peer_sleep_until(start_ns);
    if (!reduce(self, data, count))
        peer_fail("the all-reduce failed");
    p->file->took_ns[p->rank] = peer_now() - start_ns;
    for (size_t i = 0; i < count; i++)
        if (data[i] != (float)(p->ranks * (p->ranks + 1) / 2 + p->ranks * (int)(i % 7)))
            peer_fail("a sum is wrong");
    peer_meet(p);
    for (int i = 0; i < p->ranks; i++)
        if (p->file->took_ns[i] > slowest_ns)
            slowest_ns = p->file->took_ns[i];
    if (p->rank == 0 && print)
        printf("%zu %.6f\n", count * sizeof *data, (double)slowest_ns * 1e-9);
    fflush(stdout);
    peer_meet(p);
}

static inline void peer_run(struct peer *p, int argc, char **argv, peer_reduce reduce, void *self)
{
    for (int i = 3; i < argc; i++) {
        size_t count = strtoul(argv[i], NULL, 10) / sizeof(float);
        float *data = (float *)malloc(count * sizeof *data);
        for (int k = 0; data && k <= atoi(argv[2]); k++)
            peer_once(p, reduce, self, data, count, k > 0);
        free(data);
    }
}
