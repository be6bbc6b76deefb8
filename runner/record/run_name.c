/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run_name.h"

#include "base/err.h"
#include "base/locate.h"
#include "base/text.h"
#include "config/config.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *platform_of_config(const char *path)
{
    char ignored[1];
    AUTO(config_free_of) struct config *c = NULL;
    err_capture(ignored, sizeof ignored);
    config_load_all(&c, path, NULL);
    err_capture(NULL, 0);
    const struct config_entry *e = c ? config_find(c, "platform", "name") : NULL;
    const char *file = path_name(path);
    return e && *e->value ? xstrdup(e->value)
                          : xstrfmt("%.*s", (int)(strlen(file) - strlen(".ini")), file);
}

static char *config_meaning(const char *name)
{
    AUTO_FREE char *path = locate_config(name);
    if (!text_ends(path, ".ini") || access(path, R_OK))
        return NULL;
    AUTO_FREE char *platform = platform_of_config(path), *folder = locate_platform(platform);
    AUTO_WORDS struct words recorded = {0};
    if (folder)
        return xstrfmt("is a config; its recordings are those of platform '%s', which is the name "
                       "to give",
                       platform);
    locate_platforms(&recorded);
    const char *near = text_nearest(platform, (const char *const *)recorded.v, recorded.n);
    return xstrfmt("is a config, and its platform '%s' has no recording yet (to measure: gradsync "
                   "plan %s)%s",
                   platform, name, DID_YOU_MEAN(near));
}

/* The folders of data/raw that match: their platforms, "a, b"; *last: the latest of them. */
static char *platforms_with(const char *pattern, char **last)
{
    glob_t found;
    AUTO_WORDS struct words names = {0};
    struct text t = {0};
    size_t skip = strlen(LOCATE_DATA "/");
    if (glob(pattern, GLOB_ONLYDIR, NULL, &found))
        return NULL;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *platform = found.gl_pathv[i] + skip;
        size_t n = names.n;
        AUTO_FREE char *name = xstrfmt("%.*s", (int)strcspn(platform, "/"), platform);
        if (words_add_once(&names, name) == n)
            text_addf(&t, "%s%s", n ? ", " : "", name);
        if (!*last || strcmp(path_name(found.gl_pathv[i]), path_name(*last)) > 0)
            xstrset(last, found.gl_pathv[i]);
    }
    globfree(&found);
    return t.s;
}

static char *recorded_meaning(const char *name)
{
    AUTO_FREE char *of_workload = xstrfmt(LOCATE_DATA "/*/%s/", name), *last = NULL,
                   *of_label =
                       xstrfmt(LOCATE_DATA "/*/*/*Z-%s-[0-9a-f][0-9a-f][0-9a-f][0-9a-f]", name);
    AUTO_FREE char *workload = platforms_with(of_workload, &last);
    if (workload)
        return xstrfmt("is a workload; the platforms that recorded it: %s", workload);
    AUTO_FREE char *label = platforms_with(of_label, &last);
    return label ? xstrfmt("is a label of runs of %s; the latest: %s", label, path_name(last))
                 : NULL;
}

char *run_name_meaning(const char *name)
{
    char *meaning = config_meaning(name);
    AUTO_FREE char *below = xstrfmt(LOCATE_DATA "/%s", name);
    bool plain = *name && !strpbrk(name, "*?[\\");
    if (!meaning && plain && !strchr(name, '/'))
        return recorded_meaning(name);
    return !meaning && plain && strchr(name, '/') && !access(below, F_OK)
               ? xstrfmt("does not exist%s", DID_YOU_MEAN(below))
               : meaning;
}

int run_name_failed(const char *name)
{
    int why = errno;
    AUTO_FREE char *meaning = run_name_meaning(name);
    errno = why;
    if (!meaning && why == ENOTDIR && !access(name, F_OK))
        return fail_at(GS_USAGE, name, 0,
                       "is a file; give a run folder, a platform or the id of a run");
    return meaning ? fail_at(GS_USAGE, name, 0, "%s", meaning)
                   : locate_failed(GS_USAGE, name, LOCATE_RUN);
}
