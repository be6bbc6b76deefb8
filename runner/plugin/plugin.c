/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/text.h"
#include "config/locate.h"
#include "config/params.h"
#include "config/settings.h"
#include "config/settings_tables.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the files of plugins ---- */

#define PLUGIN_ABI_STEM "wl_plugin_v" /* how the symbol begins in every version of the ABI */

struct plugin_file {
    char *name, *path;
};

struct plugin_files {
    struct plugin_file *v;
    size_t n;
};

/* The search path, in order. */
static void search_path(struct words *dirs)
{
    const char *env = getenv("GRADSYNC_PLUGIN_PATH");
    AUTO_FREE char *all = xstrfmt("%s:%s:%s/plugins:%s/../lib/gradsync/plugins", env ? env : "",
                                  program_dir(), program_dir(), program_dir());
    words_split(dirs, all, ':');
}

/* The path for a name (plugin_load); NULL: there is none. The caller frees it. */
static char *plugin_file(const char *name)
{
    if (strchr(name, '/') || text_ends(name, ".so"))
        return xstrfmt("%s%s", strchr(name, '/') ? "" : "./", name);
    AUTO_WORDS struct words dirs = {0};
    search_path(&dirs);
    char *found = NULL;
    for (size_t i = 0; i < dirs.n && !found; i++) {
        char *path = xstrfmt("%s/%s.so", dirs.v[i], name);
        if (*dirs.v[i] && !access(path, F_OK))
            found = path;
        else
            free(path);
    }
    return found;
}

static void find_in(struct plugin_files *f, const char *dir)
{
    AUTO_WORDS struct words files = {0};
    if (*dir)
        files_list(dir, "*.so", &files);
    for (size_t i = 0; i < files.n; i++) {
        struct plugin_file one = {.name = xstrfmt("%.*s", (int)strlen(files.v[i]) - 3, files.v[i]),
                                  .path = xstrfmt("%s/%s", dir, files.v[i])};
        AUTO_TEXT struct text bytes = {0};
        bool good = files_read(one.path, FILES_ANY, FILES_WHOLE_MAX, &bytes) &&
                    memmem(bytes.s, bytes.len, PLUGIN_ABI_STEM, strlen(PLUGIN_ABI_STEM));
        for (size_t k = 0; k < f->n; k++)
            good = good && strcmp(f->v[k].name, one.name) != 0;
        if (good) {
            APPEND(f->v, f->n) = one;
        } else {
            free(one.name);
            free(one.path);
        }
    }
}

/* Every file in the search path that mentions the ABI's symbol; of equal names the first. */
static struct plugin_files plugin_files(void)
{
    struct plugin_files f = {0};
    AUTO_WORDS struct words dirs = {0};
    search_path(&dirs);
    for (size_t i = 0; i < dirs.n; i++)
        find_in(&f, dirs.v[i]);
    return f;
}

static void plugin_files_free(struct plugin_files *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->v[i].name);
        free(f->v[i].path);
    }
    free(f->v);
}

/* ---- the tables ---- */

/* What a plugin's tables must be, so that the parser, the help and the CSVs can rely on them. */

#define NAME_MAX_LEN 32
#define SUMMARY_MAX_LEN 80
#define TABLE_MAX 256 /* a table with no end is read no further */
#define TEXT_MAX 65536
#define PAGE_LEAST_B 4096

struct lint {
    const struct plugin *plugin;
    int faults;
};

__attribute__((format(printf, 2, 3))) static void fault(struct lint *l, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    fail_at(GS_USAGE, l->plugin->path, 0, "%s", line);
    l->faults++;
}

static bool is_identifier(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && n <= NAME_MAX_LEN && !s[n] && s[0] >= 'a';
}

static bool is_one_line(const char *s)
{
    return s && *s && !strpbrk(s, "\n\r\t");
}

/* Past the end of a table lies anything. Reading it could end this process; a system call returns an error
 * (EFAULT). */
static bool is_readable(const void *at, size_t n)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return true;
    bool readable = write(ends[1], at, n) == (ssize_t)n;
    close(ends[0]);
    close(ends[1]);
    return readable;
}

/* A string of the plugin, or NULL. */
static bool is_text(const char *s)
{
    for (size_t i = 0; s && i < TEXT_MAX; i++) {
        if ((!i || (uintptr_t)(s + i) % PAGE_LEAST_B == 0) && !is_readable(s + i, 1))
            return false;
        if (!s[i])
            return true;
    }
    return !s;
}

static bool is_list(const char *const *list)
{
    for (size_t i = 0; list && i < TABLE_MAX; i++) {
        if (!is_readable(&list[i], sizeof *list) || !is_text(list[i]))
            return false;
        if (!list[i])
            return true;
    }
    return !list;
}

/* ---- the struct ---- */

static void lint_functions(struct lint *l)
{
    const struct wl_plugin *w = &l->plugin->wl;
    const struct {
        const char *name;
        bool there;
    } functions[] = {
        {"describe", w->describe}, {"open", w->open},       {"close", w->close},
        {"prepare", w->prepare},   {"release", w->release}, {"sample", w->sample},
        {"verify", w->verify},
    };
    for (size_t i = 0; i < COUNT(functions); i++)
        if (!functions[i].there)
            fault(l, "has no %s()", functions[i].name);
}

static void lint_identity(struct lint *l)
{
    const struct wl_plugin *w = &l->plugin->wl;
    const char *file = path_name(l->plugin->path);
    if (!w->name || !is_identifier(w->name))
        fault(l, "name '%s' is not a lower-case identifier", w->name ? w->name : "(NULL)");
    else if (settings_section_find(w->name))
        fault(l, "name '%s' is a fixed section of configs: choose another", w->name);
    else if (strlen(file) != strlen(w->name) + 3 || strncmp(file, w->name, strlen(w->name)))
        fault(l, "name '%s' differs from the file name: rename the file to %s.so", w->name,
              w->name);
    if (!is_one_line(w->version))
        fault(l, "version is empty, or not one line");
    if (!is_one_line(w->summary) || strlen(w->summary) > SUMMARY_MAX_LEN)
        fault(l, "summary is empty, not one line, or longer than %d bytes", SUMMARY_MAX_LEN);
}

/* ---- the parameters ---- */

static void lint_param_name(struct lint *l, const struct wl_param *table, size_t i)
{
    const char *name = table[i].name;
    if (!is_identifier(name))
        fault(l, "parameter '%s': the name is not a lower-case identifier of at most %d letters",
              name, NAME_MAX_LEN);
    for (size_t j = 0; j < i; j++)
        if (!strcmp(table[j].name, name))
            fault(l, "parameter '%s' is declared twice", name);
    if (!strcmp(SWEEP_CONFIGS, name))
        fault(l, "parameter '%s': the name is a key of every workload section", name);
}

/* Labels and sweeps are made of choices: "ring/LL128", "a, b", "dtype=int32; op=max". */
static bool lint_choices(struct lint *l, const struct wl_param *p)
{
    if (p->type != WL_CHOICE) {
        if (p->choices)
            fault(l, "parameter '%s' has choices, but is not a WL_CHOICE", p->name);
        return true;
    }
    if (!is_list(p->choices)) {
        fault(l, "parameter '%s': its choices do not end with NULL", p->name);
        return false;
    }
    if (!p->choices || !p->choices[0])
        fault(l, "parameter '%s' is a WL_CHOICE without choices", p->name);
    for (size_t i = 0; p->choices && p->choices[i]; i++) {
        if (!p->choices[i][0] || strpbrk(p->choices[i], " ,;=/:\t\n\"#"))
            fault(l, "parameter '%s': choice '%s' is empty or holds one of ' ,;=/:\"#'", p->name,
                  p->choices[i]);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(p->choices[i], p->choices[j]))
                fault(l, "parameter '%s': choice '%s' is listed twice", p->name, p->choices[i]);
    }
    return true;
}

/* The member lies inside the cell and on no other's place. The usual cause is a member that is narrower
 * than what its type fills. */
static bool lint_place(struct lint *l, const struct wl_param *table, size_t i)
{
    static const char *const member[] = {"int64_t", "uint64_t", "double", "double",
                                         "double",  "bool",     "int",    "char[WL_TEXT_MAX]"};
    static const char *const type[] = {"WL_INT",  "WL_SIZE", "WL_REAL",   "WL_TIME",
                                       "WL_RATE", "WL_BOOL", "WL_CHOICE", "WL_TEXT"};
    const struct wl_param *p = &table[i];
    size_t size = param_size(p), cell = l->plugin->wl.cell_size;
    bool inside = p->offset <= cell && size <= cell - p->offset;
    if (p->offset >= cell)
        fault(l, "parameter '%s': offset %zu lies outside the cell of %zu bytes", p->name,
              p->offset, cell);
    else if (!inside)
        fault(
            l,
            "parameter '%s': %s fills %zu bytes at offset %zu, but the cell ends at %zu: make the "
            "member of type %s, or correct cell_size",
            p->name, type[p->type], size, p->offset, cell, member[p->type]);
    for (size_t j = 0; j < i; j++) {
        const struct wl_param *q = &table[j], *first = q->offset <= p->offset ? q : p;
        if (q->type <= WL_TEXT && q->offset < p->offset + size &&
            p->offset < q->offset + param_size(q))
            fault(
                l,
                "parameters '%s' and '%s' overlap: %s fills %zu bytes of '%s' at offset %zu; make "
                "it of type %s, or correct the offset",
                q->name, p->name, type[first->type], param_size(first), first->name, first->offset,
                member[first->type]);
    }
    return inside;
}

static void lint_default(struct lint *l, const struct wl_param *p)
{
    if (p->type == WL_CHOICE && (!p->choices || !p->choices[0]))
        return;
    if (!p->def) {
        fault(l, "parameter '%s' has no default", p->name);
        return;
    }
    char why[512];
    AUTO_FREE void *cell = xcalloc(1, l->plugin->wl.cell_size);
    if (!param_parse(p, p->def, cell, why, sizeof why))
        fault(l, "parameter '%s': the default %s", p->name, why);
}

static void lint_param(struct lint *l, const struct wl_param *table, size_t i)
{
    const struct wl_param *p = &table[i];
    lint_param_name(l, table, i);
    if (!is_one_line(p->help))
        fault(l, "parameter '%s': help is empty, or not one line", p->name);
    if ((unsigned)p->role > WL_MODE)
        fault(l, "parameter '%s': role %d is none of WL_AXIS, WL_CONFIG, WL_MODE", p->name,
              (int)p->role);
    if ((unsigned)p->type > WL_TEXT) {
        fault(l, "parameter '%s': type %d is unknown", p->name, (int)p->type);
        return;
    }
    if (isnan(p->min) || isnan(p->max) || p->min > p->max)
        fault(l, "parameter '%s': min %g is above max %g", p->name, p->min, p->max);
    if (lint_choices(l, p) & lint_place(l, table, i))
        lint_default(l, p);
}

/* False: the table does not end, and must not be read by anybody else. */
static bool lint_params(struct lint *l)
{
    const struct wl_param *table = l->plugin->wl.params;
    if (!table) {
        fault(l, "has no params table; an empty one is {{0}}");
        return true;
    }
    for (size_t i = 0; i < TABLE_MAX; i++) {
        const struct wl_param *p = &table[i];
        bool there = is_readable(p, sizeof *p) && is_text(p->name);
        if (there && !p->name)
            return true;
        if (!there || !is_text(p->unit) || !is_text(p->def) || !is_text(p->help) ||
            ((unsigned)p->type > WL_TEXT && (unsigned)p->role > WL_MODE)) {
            if (i)
                fault(l, "params do not end behind '%s': add {0} as the last line of the table",
                      table[i - 1].name);
            else
                fault(l, "params is no table of parameters");
            return false;
        }
        lint_param(l, table, i);
    }
    fault(l, "params do not end with a NULL name");
    return false;
}

static void lint_added(struct lint *l)
{
    const struct wl_plugin *w = &l->plugin->wl;
    if (!is_list(w->added)) {
        fault(l, "added does not end with NULL");
        return;
    }
    for (const char *const *added = w->added; added && *added; added++)
        if (w->params && !params_find(w->params, *added))
            fault(l, "added holds '%s', which is not a parameter", *added);
}

/* ---- the metrics ---- */

static void lint_metrics(struct lint *l)
{
    const struct wl_metric *m = l->plugin->wl.metrics;
    for (size_t i = 0; m && i <= WL_METRICS_MAX; i++) {
        bool there = is_readable(&m[i], sizeof *m) && is_text(m[i].name);
        if (there && !m[i].name)
            break;
        if (there && is_text(m[i].unit) && is_text(m[i].help))
            continue;
        if (i)
            fault(l, "metrics do not end behind '%s': add {0} as the last line of the table",
                  m[i - 1].name);
        else
            fault(l, "metrics is no table of metrics");
        return;
    }
    if (!m || !m[0].name) {
        fault(l, "has no metrics: the first is \"time\" in \"s\"");
        return;
    }
    if (strcmp(m[0].name, "time") || !m[0].unit || strcmp(m[0].unit, "s"))
        fault(l, "metric '%s' is first, but the first must be \"time\" in \"s\"", m[0].name);
    size_t i = 0;
    for (; i <= WL_METRICS_MAX && m[i].name; i++) {
        if (!is_identifier(m[i].name))
            fault(l, "metric '%s': the name is not a lower-case identifier", m[i].name);
        if (!m[i].unit || !is_one_line(m[i].help))
            fault(l, "metric '%s' has no unit, or its help is empty or not one line", m[i].name);
        if ((unsigned)m[i].across > WL_EACH)
            fault(l, "metric '%s': across %d is none of WL_MAX, WL_SUM, WL_MEAN, WL_EACH",
                  m[i].name, (int)m[i].across);
        if (!strcmp(m[i].name, "time_ns"))
            fault(l, "metric 'time_ns': recordings use this name for samples; choose another");
        for (size_t j = 0; j < i; j++)
            if (!strcmp(m[j].name, m[i].name))
                fault(l, "metric '%s' is declared twice", m[i].name);
    }
    if (i > WL_METRICS_MAX)
        fault(l, "has more than %d metrics, or they do not end with a NULL name", WL_METRICS_MAX);
}

int plugin_lint(const struct plugin *p)
{
    struct lint l = {.plugin = p};
    lint_identity(&l);
    lint_functions(&l);
    if (lint_params(&l))
        lint_added(&l);
    lint_metrics(&l);
    return l.faults ? GS_USAGE : GS_OK;
}

/* ---- loading ---- */

#define ABI_MAX 99

static int no_such(const char *name)
{
    AUTO(plugin_files_free) struct plugin_files f = plugin_files();
    const char *near = NEAREST(name, f.v, f.n, name);
    if (!f.n)
        return fail(GS_CANNOT,
                    "no plugin '%s': this installation has none (a wheel holds only what needs "
                    "neither MPI nor CUDA); to measure a config, build gradsync from its source",
                    name);
    return fail(GS_USAGE, "no plugin '%s'%s; 'gradsync help plugins' shows those found here", name,
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

static int open_file(struct plugin *p)
{
    int fd = files_open(p->path, FILES_ANY); /* dlopen would wait for a pipe */
    if (fd < 0 && errno == EMEDIUMTYPE)
        return fail_at(GS_USAGE, p->path, 0, "cannot be read: %s", files_why(errno));
    if (fd < 0)
        return locate_failed(GS_USAGE, p->path, LOCATE_FILE);
    close(fd);
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

int plugin_load(struct plugin **out, const char *name)
{
    struct plugin *p = NULL;
    CHECK(plugin_open(&p, name));
    int code = plugin_lint(p);
    if (code)
        plugin_unload(p);
    else
        *out = p;
    return code;
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
    free(p->path);
    free(p);
}

#define CALLED 100 /* added to the exit code of a child, which no constructor of a plugin adds */

struct apart {
    int (*run)(const char *name, void *ctx);
    const char *name;
    void *ctx;
};

static int call_apart(void *ctx)
{
    const struct apart *a = ctx;
    alarm(PLUGIN_SILENCE_S);
    return CALLED + a->run(a->name, a->ctx);
}

int plugin_apart(int (*run)(const char *name, void *ctx), const char *name, void *ctx,
                 const char *when)
{
    int status = family_apart(call_apart, &(struct apart){run, name, ctx});
    if (status < 0)
        return fail(GS_FAILED, "%s: no process can be started to read it: %s", name,
                    strerror(errno));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return fail_at(GS_FAILED, name, 0, "does not finish loading within %d s", PLUGIN_SILENCE_S);
    if (WIFSIGNALED(status))
        return fail_at(GS_FAILED, name, 0, "crashes %s (SIG%s)", when,
                       sigabbrev_np(WTERMSIG(status)));
    if (WEXITSTATUS(status) < CALLED)
        return fail_at(GS_FAILED, name, 0, "ends the process %s (exit code %d)", when,
                       WEXITSTATUS(status));
    return WEXITSTATUS(status) - CALLED;
}

static int load_once(const char *name, void *ctx)
{
    struct plugin *p = NULL;
    char ignored[1]; /* whoever loads it next says what is wrong */
    (void)ctx;
    err_capture(ignored, sizeof ignored);
    if (!plugin_load(&p, name))
        plugin_unload(p);
    return GS_OK;
}

int plugin_try(const char *name)
{
    return plugin_apart(load_once, name, NULL, "while it is loaded");
}

void plugin_names(struct words *names)
{
    AUTO(plugin_files_free) struct plugin_files f = plugin_files();
    *names = (struct words){0};
    for (size_t i = 0; i < f.n; i++)
        words_add(names, f.v[i].name);
}
