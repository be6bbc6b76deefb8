/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job_memory.h"

#include "base/files.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED_MEMORY "/dev/shm/"

static void note_folder(struct job_memory *m, const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        APPEND(m->before, m->n_before) = e->d_ino;
        AUTO_FREE char *below = xstrfmt("%s%s/", path, e->d_name);
        if (e->d_type == DT_DIR)
            note_folder(m, below);
    }
    if (d)
        closedir(d);
}

void job_memory_begin(struct job_memory *m)
{
    *m = (struct job_memory){0};
    note_folder(m, SHARED_MEMORY);
}

static bool is_known(const struct job_memory *m, ino_t inode)
{
    for (size_t i = 0; i < m->n_before; i++)
        if (m->before[i] == inode)
            return true;
    for (size_t i = 0; i < m->n; i++)
        if (m->made[i].inode == inode)
            return true;
    return false;
}

/* Calls take(ctx, path, inode) for each file of shared memory that a process has mapped. */
static void each_mapped(pid_t pid, void (*take)(void *, const char *, ino_t), void *ctx)
{
    AUTO_FREE char *maps = xstrfmt("/proc/%d/maps", (int)pid), *line = NULL;
    AUTO_FCLOSE FILE *in = fopen(maps, "re");
    size_t cap = 0;
    while (in && getline(&line, &cap, in) > 0) {
        char *path = strstr(line, " " SHARED_MEMORY);
        unsigned long long inode;
        if (!path || sscanf(line, "%*s %*s %*s %*s %llu", &inode) != 1)
            continue;
        path[strcspn(path, "\n")] = '\0';
        take(ctx, path + 1, (ino_t)inode);
    }
}

static void take_made(void *ctx, const char *path, ino_t inode)
{
    struct job_memory *m = ctx;
    if (!is_known(m, inode) && !text_ends(path, " (deleted)"))
        APPEND(m->made, m->n) = (struct job_segment){xstrdup(path), inode};
}

void job_memory_look(struct job_memory *m, const pid_t *pids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        each_mapped(pids[i], take_made, m);
}

static void take_used(void *ctx, const char *path, ino_t inode)
{
    struct job_memory *m = ctx;
    (void)path;
    for (size_t i = 0; i < m->n; i++)
        if (m->made[i].inode == inode)
            m->made[i].inode = 0;
}

static bool is_left(const struct job_segment *s)
{
    struct stat st;
    return s->inode && !lstat(s->path, &st) && st.st_ino == s->inode && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid();
}

void job_memory_end(struct job_memory *m)
{
    size_t left = 0;
    for (size_t i = 0; i < m->n; i++)
        left += is_left(&m->made[i]);
    DIR *d = left ? opendir("/proc") : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (atoi(e->d_name) > 0)
            each_mapped((pid_t)atoi(e->d_name), take_used, m);
    if (d)
        closedir(d);
    for (size_t i = 0; i < m->n; i++) {
        if (is_left(&m->made[i]))
            unlink(m->made[i].path);
        free(m->made[i].path);
    }
    free(m->made);
    free(m->before);
    *m = (struct job_memory){0};
}
