/* SPDX-License-Identifier: Apache-2.0 */
#include "price/preload.h"

#include "price/trial.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHO "gradsync price"
#define ALONE_CALLS 200

struct price_comm {
    struct price_comm *next;
    uintptr_t handle;
    struct price_about about;
    bool on_trial;
    struct trial trial;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct price_comm *all;
static struct trial_config config;
static bool has_trial, has_arm, set_up, alone, wrote_unseen;
static unsigned alone_calls; /* of communicators of one rank */
static struct choice arm;
static pid_t loaded_by; /* a forked child is not a rank */

static void load(void)
{
    char why[4600];
    const char *path = getenv("GRADSYNC_PRICE"), *name = getenv("GRADSYNC_PRICE_ARM");
    loaded_by = getpid();
    if (path && *path) {
        has_trial = trial_config_read(&config, path, why, sizeof why);
        if (!has_trial)
            trial_complain(WHO, why, "no collective is changed");
    } else if (name && *name) {
        has_arm = choice_parse(&arm, name);
        snprintf(why, sizeof why, "GRADSYNC_PRICE_ARM='%s': must be auto, none, one or half", name);
        if (!has_arm)
            trial_complain(WHO, why, "no collective is changed");
    }
}

bool price_on(void)
{
    pthread_once(&once, load);
    return has_trial || has_arm;
}

static void *look_up(const char *const *objects, const char *symbol)
{
    for (; *objects; objects++) {
        void *object = dlopen(*objects, RTLD_LAZY | RTLD_NOLOAD);
        void *found = object ? dlsym(object, symbol) : NULL;
        if (object)
            dlclose(object);
        if (found)
            return found;
    }
    return dlsym(RTLD_NEXT, symbol);
}

void *price_real(void **known, const char *const *objects, const char *symbol, const char *lack)
{
    void *f = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!f) {
        f = look_up(objects, symbol);
        __atomic_store_n(known, f, __ATOMIC_RELAXED);
    }
    if (!f && lack) {
        fprintf(stderr, WHO ": %s: %s\n", symbol, lack);
        abort();
    }
    return f;
}

/* ---- communicators ---- */

static void begin(struct price_comm *c)
{
    char why[4600];
    struct price_about *a = &c->about;
    if (a->ranks < 2)
        alone = true;
    if (a->ranks < 2 || !has_trial)
        return;
    if (!*a->id)
        trial_name(a->id, sizeof a->id, (size_t)a->ranks, a->rank);
    c->on_trial = trial_begin(&c->trial, &config, a->id, (size_t)a->ranks, 1, 0);
    if (c->on_trial)
        return;
    snprintf(why, sizeof why, "%s: cannot be written to: %s", config.out, strerror(errno));
    trial_complain(WHO, why, "no collective is changed");
}

/* ---- what was not seen ---- */

static bool is_loaded(const char *object)
{
    void *handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle != NULL;
}

/* Tells gradsync why a process that has CUDA, NCCL or MPI made no call that was seen: at its end, or once it
 * made many calls that only it takes part in. */
static void write_unseen(void)
{
    bool cuda = is_loaded("libcuda.so.1"), nccl = is_loaded("libnccl.so.2");
    bool mpi =
        dlsym(RTLD_DEFAULT, "PMPI_Init") || is_loaded("libmpi.so.40") || is_loaded("libmpi.so.12");
    struct journal j;
    for (struct price_comm *c = all; c; c = c->next)
        if (c->on_trial)
            return;
    if (wrote_unseen || !(cuda || nccl || mpi || alone) || !journal_open(&j, config.out, "loaded"))
        return;
    journal_line(&j,
                 "{\"type\":\"loaded\",\"nccl\":%d,\"has_cuda\":%s,\"has_nccl\":%s,"
                 "\"has_mpi\":%s,\"alone\":%s}",
                 nccl_version(), cuda ? "true" : "false", nccl ? "true" : "false",
                 mpi ? "true" : "false", alone ? "true" : "false");
    journal_close(&j);
    wrote_unseen = true;
}

struct price_comm *price_comm(uintptr_t handle, bool (*about)(uintptr_t, struct price_about *))
{
    if (!price_on())
        return NULL;
    pthread_mutex_lock(&lock);
    struct price_comm *c = all;
    while (c && c->handle != handle)
        c = c->next;
    if (!c && (c = calloc(1, sizeof *c))) {
        c->handle = handle;
        if (about(handle, &c->about)) {
            begin(c);
            c->next = all;
            all = c;
        } else {
            free(c);
            c = NULL;
        }
    }
    if (c && c->about.ranks < 2 && has_trial && ++alone_calls == ALONE_CALLS)
        write_unseen();
    pthread_mutex_unlock(&lock);
    return c && c->about.ranks > 1 ? c : NULL;
}

int price_rank(const struct price_comm *c)
{
    return c->about.rank;
}

int price_ranks(const struct price_comm *c)
{
    return c->about.ranks;
}

static enum choice_part fixed(enum nccl_func func, size_t bytes)
{
    bool large = bytes >= TRIAL_PART_LEAST;
    set_up = set_up || (large && func != NCCL_BROADCAST && func != NCCL_SEND_RECV);
    return set_up && large ? (enum choice_part)arm.part : PART_ALL;
}

enum choice_part price_part(struct price_comm *c, enum nccl_func func, size_t bytes, bool captured)
{
    enum choice_part part = PART_ALL;
    pthread_mutex_lock(&lock);
    if (has_arm)
        part = fixed(func, bytes);
    else if (c->on_trial && captured)
        trial_captured(&c->trial);
    else if (c->on_trial)
        part = trial_part(&c->trial, (int)func, bytes);
    pthread_mutex_unlock(&lock);
    return part;
}

void price_forget(uintptr_t handle)
{
    pthread_mutex_lock(&lock);
    for (struct price_comm **at = &all; *at; at = &(*at)->next)
        if ((*at)->handle == handle) {
            struct price_comm *c = *at;
            *at = c->next;
            if (c->on_trial)
                trial_end(&c->trial);
            free(c);
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* ---- the end ---- */

/* A thread may still be in a call. */
__attribute__((destructor)) static void at_exit(void)
{
    if (!price_on() || !has_trial || loaded_by != getpid() || pthread_mutex_trylock(&lock))
        return;
    write_unseen();
    for (struct price_comm *c = all; c; c = c->next) {
        if (c->on_trial)
            trial_write_end(&c->trial);
        c->on_trial = false;
    }
    pthread_mutex_unlock(&lock);
}
