/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/copies.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SPARE ((unsigned long long)256 << 20) /* bytes that a copy leaves free in its folder */

/* ---- its environment ----
 *
 * setenv() in a process with threads races with getenv() elsewhere. So the copy's calls of these two functions are bound
 * to its own here, and `environ` is left alone. NCCL puts what it finds in nccl.conf into the environment by setenv(). */

struct assigned {
    struct assigned *next;
    char *name, *value;
};

static struct {
    const struct copy_environment *environment;
    struct assigned *assigned; /* by the copy itself */
} copies[COPIES_MAX];

static char *get(size_t i, const char *name)
{
    const struct copy_environment *e = copies[i].environment;
    size_t n = strlen(name);
    for (size_t k = 0; k < e->n_set; k++)
        if (!strncmp(e->set[k], name, n) && e->set[k][n] == '=')
            return e->set[k] + n + 1;
    for (size_t k = 0; k < e->n_without; k++)
        if (!strcmp(e->without[k], name))
            return NULL;
    char *real = getenv(name);
    for (struct assigned *a = __atomic_load_n(&copies[i].assigned, __ATOMIC_ACQUIRE); a && !real;
         a = a->next)
        if (!strcmp(a->name, name))
            return a->value;
    return real;
}

/* What the copy assigns is only for itself, and does not replace what it was given. */
static int assign(size_t i, const char *name, const char *value)
{
    struct assigned *a = calloc(1, sizeof *a);
    if (!a || !(a->name = strdup(name)) || !(a->value = strdup(value))) {
        free(a);
        return -1;
    }
    a->next = copies[i].assigned;
    __atomic_store_n(&copies[i].assigned, a, __ATOMIC_RELEASE);
    return 0;
}

#define EACH_8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define EACH_COPY(X) EACH_8(X, 0) EACH_8(X, 01) EACH_8(X, 02) EACH_8(X, 03)
#define ENVIRONMENT_OF(i)                                                                          \
    static char *get_##i(const char *name)                                                         \
    {                                                                                              \
        return get(i, name);                                                                       \
    }                                                                                              \
    static int set_##i(const char *name, const char *value, int replace)                           \
    {                                                                                              \
        (void)replace;                                                                             \
        return assign(i, name, value);                                                             \
    }
EACH_COPY(ENVIRONMENT_OF)
#define FUNCTIONS_OF(i) {get_##i, set_##i},
static const struct {
    char *(*get)(const char *);
    int (*set)(const char *, const char *, int);
} functions[COPIES_MAX] = {EACH_COPY(FUNCTIONS_OF)};

/* ---- binding ---- */

#if defined __x86_64__
#define RELOCATION_SLOT R_X86_64_JUMP_SLOT
#define RELOCATION_ADDRESS R_X86_64_GLOB_DAT
#elif defined __aarch64__
#define RELOCATION_SLOT R_AARCH64_JUMP_SLOT
#define RELOCATION_ADDRESS R_AARCH64_GLOB_DAT
#endif

struct dynamic {
    const ElfW(Rela) * rela[2];
    size_t n[2]; /* bytes */
    const ElfW(Sym) * symbols;
    const char *names;
};

static struct dynamic dynamic_of(const struct link_map *map)
{
    struct dynamic d = {0};
    for (const ElfW(Dyn) *e = map->l_ld; e->d_tag != DT_NULL; e++) {
        /* glibc has made these addresses of memory already. */
        uintptr_t at = e->d_un.d_ptr < map->l_addr ? map->l_addr + e->d_un.d_ptr : e->d_un.d_ptr;
        switch (e->d_tag) {
        case DT_RELA:
            d.rela[0] = (const void *)at;
            break;
        case DT_RELASZ:
            d.n[0] = e->d_un.d_val;
            break;
        case DT_JMPREL:
            d.rela[1] = (const void *)at;
            break;
        case DT_PLTRELSZ:
            d.n[1] = e->d_un.d_val;
            break;
        case DT_SYMTAB:
            d.symbols = (const void *)at;
            break;
        case DT_STRTAB:
            d.names = (const void *)at;
            break;
        default:
            break;
        }
    }
    return d;
}

/* The slot may be read-only since it was bound. */
static bool write_slot(void **slot, void *value)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)slot & ~(page - 1);
    if (*slot == value)
        return true;
    if (mprotect((void *)begin, page, PROT_READ | PROT_WRITE))
        return false;
    *slot = value;
    return true;
}

/* Binds the library's getenv and setenv to those of copy i. */
static bool bind_environment(void *library, size_t i, char *why, size_t n)
{
    struct link_map *map;
    size_t bound = 0;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map)) {
        snprintf(why, n, "%s", dlerror());
        return false;
    }
    struct dynamic d = dynamic_of(map);
    for (int table = 0; table < 2; table++)
        for (size_t k = 0; d.rela[table] && d.symbols && k < d.n[table] / sizeof(ElfW(Rela)); k++) {
            const ElfW(Rela) *r = &d.rela[table][k];
            unsigned long type = ELF64_R_TYPE(r->r_info);
            if (type != RELOCATION_SLOT && type != RELOCATION_ADDRESS)
                continue;
            const ElfW(Sym) *s = &d.symbols[ELF64_R_SYM(r->r_info)];
            const char *name = d.names + s->st_name;
            void *mine = NULL;
            if (ELF64_ST_BIND(s->st_info) == STB_GNU_UNIQUE && s->st_shndx != SHN_UNDEF) {
                snprintf(why, n, "it has the unique symbol %s, which all copies would share", name);
                return false;
            }
            if (!strcmp(name, "getenv") || !strcmp(name, "secure_getenv"))
                memcpy(&mine, &functions[i].get, sizeof mine);
            else if (!strcmp(name, "setenv"))
                memcpy(&mine, &functions[i].set, sizeof mine);
            if (!mine)
                continue;
            if (!write_slot((void **)(map->l_addr + r->r_offset), mine)) {
                snprintf(why, n, "its getenv cannot be bound: %s", strerror(errno));
                return false;
            }
            bound++;
        }
    if (!bound)
        snprintf(why, n, "it does not import getenv, so it cannot have variables of its own");
    return bound;
}

/* ---- its file ---- */

/* A file without a name in a folder from which programs may be run. -1: not there. */
static int make_file(const char *folder, unsigned long long bytes)
{
    struct statvfs v;
    if (statvfs(folder, &v) || v.f_flag & (ST_NOEXEC | ST_RDONLY) ||
        (unsigned long long)v.f_bavail * v.f_frsize < bytes + SPARE)
        return -1;
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
}

static bool fill(int to, int from, size_t bytes)
{
    size_t left = bytes;
    while (left) { /* shares the blocks where the file system can */
        ssize_t n = copy_file_range(from, NULL, to, NULL, left, 0);
        if (n <= 0)
            break;
        left -= (size_t)n;
    }
    while (left) {
        ssize_t n = sendfile(to, from, NULL, left);
        if (n <= 0)
            return false;
        left -= (size_t)n;
    }
    return true;
}

static int copy_file(const char *path, char *why, size_t n)
{
    const char *own = getenv("TMPDIR"), *const folders[] = {own && *own ? own : "/tmp", "/tmp",
                                                            "/var/tmp", "/dev/shm"};
    struct stat s;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = -1;
    if (from < 0 || fstat(from, &s)) {
        snprintf(why, n, "%s: %s", path, strerror(errno));
        if (from >= 0)
            close(from);
        return -1;
    }
    for (size_t k = 0; k < sizeof folders / sizeof *folders && to < 0; k++)
        to = make_file(folders[k], (unsigned long long)s.st_size);
    if (to < 0) { /* in memory */
        unsigned long long free = (unsigned long long)sysconf(_SC_AVPHYS_PAGES) *
                                  (unsigned long long)sysconf(_SC_PAGESIZE);
        if (free > (unsigned long long)s.st_size + 4 * SPARE)
            to = memfd_create("gradsync-copy", MFD_CLOEXEC);
    }
    if (to < 0)
        snprintf(why, n, "no room for a copy of %s (%lld MiB) in %s, /var/tmp, /dev/shm or memory",
                 path, (long long)s.st_size >> 20, folders[0]);
    if (to >= 0 && !fill(to, from, (size_t)s.st_size)) {
        snprintf(why, n, "%s cannot be copied: %s", path, strerror(errno));
        close(to);
        to = -1;
    }
    close(from);
    return to;
}

void *copy_open(size_t i, const char *path, const struct copy_environment *environment,
                char *shared, size_t n_shared, char *why, size_t n)
{
    void *library = NULL;
    int fd = -1;
    copies[i].environment = environment;
    if (*shared) /* of another process; its namespace may be another one, too */
        library = dlopen(shared, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library) {
        fd = copy_file(path, why, n);
        if (fd < 0)
            return NULL;
        snprintf(shared, n_shared, "/proc/%ld/fd/%d", (long)getpid(), fd);
        library = dlopen(shared, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        if (!library) {
            snprintf(why, n, "it cannot be loaded: %s", dlerror());
            close(fd);
            return NULL;
        }
    }
    /* The descriptor stays open: other processes of this host open the file by it. */
    return bind_environment(library, i, why, n) ? library : NULL;
}
