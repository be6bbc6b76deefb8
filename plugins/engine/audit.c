/* SPDX-License-Identifier: Apache-2.0
 *
 * An object for LD_AUDIT, which puts the engine in front of NCCL however a program binds it: also by dlsym, as JAX
 * does. It has a namespace and a C library of its own, so it only exchanges pointers (engine.h). It reaches every child of
 * the job: without an engine it changes nothing.
 */
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct gradsync_hook {
    const char *name;
    void (*mine)(void);
    void *real;
    const struct link_map *by;
};
static struct gradsync_hook *hooks;

/* The cookie of objects whose bindings stay; that of others is their link map. */
#define KEPT 0

EXPORT unsigned la_version(unsigned version);
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie);
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *by, uintptr_t *of,
                              unsigned *flags, const char *name);

unsigned la_version(unsigned version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* The engine, and copies of NCCL, which are opened by a descriptor. */
unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
    const char *name = map->l_name ? map->l_name : "";
    bool copy = !strncmp(name, "/proc/", 6) && strstr(name, "/fd/");
    (void)lmid;
    *cookie = copy || strstr(name, "libgradsync-engine") ? KEPT : (uintptr_t)map;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *by, uintptr_t *of,
                       unsigned *flags, const char *name)
{
    (void)index;
    *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
    if (!strcmp(name, "gradsync_hooks"))
        hooks = (struct gradsync_hook *)symbol->st_value;
    if (!hooks || *by == KEPT || *of == KEPT || *by == *of || strncmp(name, "nccl", 4) != 0)
        return symbol->st_value;
    for (struct gradsync_hook *h = hooks; h->name; h++)
        if (!strcmp(name, h->name)) {
            h->by = (const struct link_map *)*by;
            h->real = (void *)symbol->st_value;
            return (uintptr_t)h->mine;
        }
    return symbol->st_value;
}
