/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin.h"

#include "base/err.h"
#include "base/files.h"
#include "base/locate.h"
#include "base/text.h"
#include "config/params.h"
#include "plugin/plugin_search.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ABI_MAX 99
#define LOAD_SECONDS 30

static int no_such(const char *name)
{
    AUTO(plugin_files_free) struct plugin_files f = plugin_files();
    const char *near = NEAREST(name, f.v, f.n, name);
    return fail(GS_USAGE, "no plugin '%s'%s; 'gradsync list' shows those found here", name,
                DID_YOU_MEAN(near));
}

/* Of the linker's reasons, one is the machine's fault: a library that the plugin needs is absent or
 * too old, "libx.so.1: cannot open shared object file: …" or "…: version `V' not found". */
static int refused(const char *path, const char *why)
{
    const char *colon = strchr(why, ':');
    int n = colon ? (int)(colon - why) : 0;
    bool self = n && (size_t)n == strlen(path) && !strncmp(why, path, (size_t)n);
    if (!self && n && strstr(why, ": cannot open shared object file"))
        return fail_at(GS_CANNOT, path, 0,
                       "needs %.*s, which is not on this machine: install it, or add its folder to "
                       "LD_LIBRARY_PATH",
                       n, why);
    if (strstr(why, "version `") && strstr(why, "' not found"))
        return fail_at(GS_CANNOT, path, 0, "needs a newer library: %s", why);
    return fail_at(GS_USAGE, path, 0, "cannot be loaded as a plugin: %s", self ? why + n + 2 : why);
}

static int no_symbol(const struct plugin *p)
{
    for (int abi = 1; abi <= ABI_MAX; abi++) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, PLUGIN_ABI_STEM "%d", abi);
        if (dlsym(p->dl, symbol))
            return fail_at(GS_USAGE, p->path, 0,
                           "has plugin ABI %d, but this gradsync needs %s: build it with this "
                           "gradsync's workload.h",
                           abi, &WL_SYMBOL[strlen(PLUGIN_ABI_STEM)]);
    }
    return fail_at(GS_USAGE, p->path, 0,
                   "is not a gradsync plugin: it does not export " WL_SYMBOL " (see workload.h)");
}

/* Reads no further than the plugin says its struct goes, nor than the file says. */
static int take_struct(struct plugin *p, const struct wl_plugin *symbol)
{
    Dl_info info;
    const ElfW(Sym) *sym = NULL;
    size_t there = sizeof *symbol;
    if (dladdr1(symbol, &info, (void **)&sym, RTLD_DL_SYMENT) && sym && sym->st_size)
        there = sym->st_size;
    if (there < sizeof symbol->size || symbol->size > there || symbol->size < sizeof symbol->size)
        return fail_at(GS_USAGE, p->path, 0,
                       "its " WL_SYMBOL ".size does not match the %zu bytes of the symbol: set it "
                       "to sizeof(struct wl_plugin)",
                       there);
    memcpy(&p->wl, symbol, symbol->size < sizeof p->wl ? symbol->size : sizeof p->wl);
    return GS_OK;
}

/* dlopen maps a file that was cut short, and the process then dies of SIGBUS. */
static bool is_whole(int fd)
{
    ElfW(Ehdr) head;
    struct stat st;
    int class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (fstat(fd, &st) || pread(fd, &head, sizeof head, 0) != sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != class)
        return true; /* dlopen says what is wrong */
    uint64_t size = (uint64_t)st.st_size;
    for (int i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        if (pread(fd, &part, sizeof part, (off_t)head.e_phoff + (off_t)i * head.e_phentsize) !=
            sizeof part)
            return false;
        if (part.p_type == PT_LOAD &&
            (part.p_offset > size || part.p_filesz > size - part.p_offset))
            return false;
    }
    return true;
}

static bool try_first;

void plugin_try_first(void)
{
    try_first = true;
}

/* Loads it in a process of its own: its constructors may crash, wait for ever or end the process. */
static int survives(const char *path)
{
    int ends[2], status = 0;
    char loaded = 0;
    if (pipe2(ends, O_CLOEXEC))
        return fail(GS_FAILED, "%s: no pipe for its first load: %s", path, strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct plugin *p;
        char unsaid[64];
        try_first = false;
        err_capture(unsaid, sizeof unsaid);
        alarm(LOAD_SECONDS);
        plugin_load(&p, path); /* the lint reads its tables */
        _exit(files_write_all(ends[1], "1", 1) ? 0 : 1);
    }
    close(ends[1]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    ssize_t got = read(ends[0], &loaded, 1);
    close(ends[0]);
    if (pid < 0)
        return fail(GS_FAILED, "%s: no process for its first load: %s", path, strerror(errno));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return fail_at(GS_FAILED, path, 0, "does not finish loading within %d s", LOAD_SECONDS);
    if (WIFSIGNALED(status))
        return fail_at(GS_FAILED, path, 0, "crashes while it is loaded (SIG%s)",
                       sigabbrev_np(WTERMSIG(status)));
    if (got != 1)
        return fail_at(GS_FAILED, path, 0,
                       "ends the process while it is loaded (exit code %d): correct its "
                       "constructors",
                       WEXITSTATUS(status));
    return GS_OK;
}

static int open_file(struct plugin *p)
{
    int fd = files_open(p->path, FILES_ANY); /* dlopen would wait for a pipe */
    if (fd < 0 && errno == EMEDIUMTYPE)
        return fail_at(GS_USAGE, p->path, 0, "cannot be read: %s", files_why(errno));
    if (fd < 0)
        return locate_failed(GS_USAGE, p->path, LOCATE_FILE);
    bool whole = is_whole(fd);
    close(fd);
    if (!whole)
        return fail_at(GS_USAGE, p->path, 0, "is cut short: build or copy it again");
    if (try_first && survives(p->path))
        return GS_FAILED;
    p->dl = dlopen(p->path, RTLD_NOW | RTLD_LOCAL);
    if (!p->dl)
        return refused(p->path, dlerror());
    const struct wl_plugin *symbol = dlsym(p->dl, WL_SYMBOL);
    return symbol ? take_struct(p, symbol) : no_symbol(p);
}

int plugin_open(struct plugin **out, const char *name)
{
    char *path = plugin_file(name);
    if (!path)
        return no_such(name);
    struct plugin *p = xcalloc(1, sizeof *p);
    p->path = path;
    int code = open_file(p);
    if (code) {
        plugin_unload(p);
        return code;
    }
    *out = p;
    return GS_OK;
}

struct first {
    char line[512];
};

static void keep_first(void *ctx, const char *line)
{
    struct first *f = ctx;
    if (!f->line[0])
        snprintf(f->line, sizeof f->line, "%s", line);
}

int plugin_load(struct plugin **out, const char *name)
{
    struct plugin *p = NULL;
    int code = plugin_open(&p, name);
    if (!p)
        return code;
    struct first first = {{0}};
    int faults = plugin_lint(p, keep_first, &first);
    if (faults) {
        code = faults == 1
                   ? fail_at(GS_USAGE, p->path, 0, "%s", first.line)
                   : fail_at(GS_USAGE, p->path, 0, "%s (and %d more: 'gradsync check' lists them)",
                             first.line, faults - 1);
        plugin_unload(p);
        return code;
    }
    *out = p;
    return GS_OK;
}

bool plugin_has_param(const struct wl_plugin *wl, const struct wl_param *p, const void *cell)
{
    for (const char *const *added = wl->added; added && *added; added++)
        if (!strcmp(*added, p->name))
            return !param_is_default(p, cell);
    return true;
}

void plugin_unload(struct plugin *p)
{
    if (!p)
        return;
    if (p->dl)
        dlclose(p->dl);
    words_free(&p->texts);
    free(p->params);
    free(p->path);
    free(p);
}

void plugin_each(void (*visit)(void *ctx, const char *name, const char *path,
                               const struct plugin *p, const char *why),
                 void *ctx)
{
    AUTO(plugin_files_free) struct plugin_files f = plugin_files();
    for (size_t i = 0; i < f.n; i++) {
        struct plugin *p = NULL;
        char why[1024];
        err_capture(why, sizeof why);
        plugin_load(&p, f.v[i].path);
        err_capture(NULL, 0);
        /* The place is the path, which the visitor has. */
        size_t place = strlen(f.v[i].path) + strlen(": ");
        visit(ctx, f.v[i].name, f.v[i].path, p, p ? NULL : why + (strlen(why) > place ? place : 0));
        plugin_unload(p);
    }
}

void plugin_names(struct words *names)
{
    AUTO(plugin_files_free) struct plugin_files f = plugin_files();
    *names = (struct words){0};
    for (size_t i = 0; i < f.n; i++)
        words_add(names, f.v[i].name);
}
