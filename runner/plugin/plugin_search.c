/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/plugin_search.h"

#include "base/files.h"
#include "base/program_dir.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The search path, in order. */
static void search_path(struct words *dirs)
{
    const char *env = getenv("GRADSYNC_PLUGIN_PATH");
    AUTO_FREE char *all = xstrfmt("%s:%s:%s/plugins:%s/../lib/gradsync/plugins", env ? env : "",
                                  program_dir(), program_dir(), program_dir());
    words_split(dirs, all, ':');
}

static bool is_path(const char *name)
{
    return strchr(name, '/') || text_ends(name, ".so");
}

char *plugin_file(const char *name)
{
    if (is_path(name))
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

static bool mentions_abi(const char *path)
{
    AUTO_TEXT struct text bytes = {0};
    return files_read(path, FILES_ANY, FILES_WHOLE_MAX, &bytes) &&
           memmem(bytes.s, bytes.len, PLUGIN_ABI_STEM, strlen(PLUGIN_ABI_STEM));
}

static bool is_new(const struct plugin_files *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->v[i].name, name))
            return false;
    return true;
}

static void find_in(struct plugin_files *f, const char *dir)
{
    AUTO_WORDS struct words files = {0};
    if (*dir)
        files_list(dir, "*.so", &files);
    for (size_t i = 0; i < files.n; i++) {
        struct plugin_file one = {.name = xstrfmt("%.*s", (int)strlen(files.v[i]) - 3, files.v[i]),
                                  .path = xstrfmt("%s/%s", dir, files.v[i])};
        if (is_new(f, one.name) && mentions_abi(one.path)) {
            APPEND(f->v, f->n) = one;
        } else {
            free(one.name);
            free(one.path);
        }
    }
}

struct plugin_files plugin_files(void)
{
    struct plugin_files f = {0};
    AUTO_WORDS struct words dirs = {0};
    search_path(&dirs);
    for (size_t i = 0; i < dirs.n; i++)
        find_in(&f, dirs.v[i]);
    return f;
}

void plugin_files_free(struct plugin_files *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->v[i].name);
        free(f->v[i].path);
    }
    free(f->v);
}
