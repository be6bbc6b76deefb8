/* SPDX-License-Identifier: Apache-2.0 */
#include "config/locate.h"

#include "base/files.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_SUFFIX ".ini"
#define PLATFORMS_PATTERN LOCATE_DATA "/*"
#define RUNS_PATTERN PLATFORMS_PATTERN "/*/"

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* ---- configs ---- */

char *locate_installed_configs(void)
{
    return xstrfmt("%s/../share/gradsync/configs", program_dir());
}

/* DIR/NAME or DIR/NAME.ini, whichever is a file; NULL: neither. DIR "" is where NAME says. */
static char *config_in(const char *dir, const char *name)
{
    static const char *const suffixes[] = {"", CONFIG_SUFFIX};
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        char *path = xstrfmt("%s%s%s%s", dir, *dir ? "/" : "", name, suffixes[i]);
        if (is_file(path))
            return path;
        free(path);
    }
    return NULL;
}

char *locate_config(const char *name)
{
    bool there = is_file(name);
    char *path = there ? NULL : config_in("", name);
    if (!there && !path && !strchr(name, '/')) {
        AUTO_FREE char *installed = locate_installed_configs();
        path = config_in("configs", name);
        path = path ? path : config_in(installed, name);
    }
    return path ? path : xstrdup(name);
}

static void configs_of(struct words *names, const char *dir)
{
    AUTO_WORDS struct words files = {0};
    files_list(dir, "*" CONFIG_SUFFIX, &files);
    for (size_t i = 0; i < files.n; i++) {
        files.v[i][strlen(files.v[i]) - strlen(CONFIG_SUFFIX)] = '\0';
        words_add_once(names, files.v[i]);
    }
}

void locate_configs(struct words *names)
{
    AUTO_FREE char *installed = locate_installed_configs();
    *names = (struct words){0};
    configs_of(names, "configs");
    configs_of(names, installed);
}

/* ---- runs ---- */

char *locate_run(const char *name)
{
    glob_t found;
    if (!access(name, F_OK) || !*name || *name == '/' || strpbrk(name, "*?[\\"))
        return xstrdup(name);
    AUTO_FREE char *pattern =
        xstrfmt("%s%s", strchr(name, '/') ? LOCATE_DATA "/" : RUNS_PATTERN, name);
    if (glob(pattern, 0, NULL, &found))
        return xstrdup(name);
    char *path = xstrdup(found.gl_pathv[0]);
    globfree(&found);
    return path;
}

static void folders_of(struct words *names, const char *pattern)
{
    glob_t found;
    *names = (struct words){0};
    if (glob(pattern, GLOB_ONLYDIR, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        words_add(names, path_name(found.gl_pathv[i]));
    globfree(&found);
}

char *locate_platform(const char *name)
{
    char *path = xstrfmt(LOCATE_DATA "/%s", name);
    if (*name && *name != '.' && !strchr(name, '/') && access(name, F_OK) && files_is_folder(path))
        return path;
    free(path);
    return NULL;
}

void locate_runs(struct words *names)
{
    folders_of(names, RUNS_PATTERN "*");
}

void locate_platforms(struct words *names)
{
    folders_of(names, PLATFORMS_PATTERN);
}

/* ---- typos ---- */

/* What a bare word that is nothing may be, by what it may name. */
static const char *const may_be[] = {
    "",
    [LOCATE_CONFIG] = "; it takes a path, or the name of a config (gradsync help configs)",
    [LOCATE_RUN] = ("; it takes a path, a platform (gradsync help measured) or the id of a run "
                    "(gradsync help recordings)"),
    [LOCATE_CONFIG | LOCATE_RUN] =
        "; it takes a path, the name of a config in configs, or the id of a run below data/raw",
    [LOCATE_CAMPAIGN] = "; it takes the folder of a campaign, which 'gradsync submit' prints",
    [LOCATE_ONE_RUN] = "; it takes a path or the id of a run (gradsync help recordings)",
};

int locate_failed(enum gs_exit code, const char *path, unsigned names)
{
    int why = errno;
    AUTO_FREE char *platform = names & LOCATE_ONE_RUN ? locate_platform(path) : NULL;
    AUTO_WORDS struct words known = {0};
    if (platform)
        return fail_at(code, path, 0,
                       "is a platform; give one of its runs (gradsync help recordings)");
    if (names & (LOCATE_RUN | LOCATE_ONE_RUN) && !strcmp(path, LOCATE_DATA))
        return fail_at(
            code, path, 0,
            "cannot be read: %s; no recordings here: measure with 'gradsync tune -- COMMAND' or "
            "'gradsync run CONFIG', or go to their folder",
            strerror(why));
    if (names & LOCATE_CONFIG)
        locate_configs(&known);
    else if (names & LOCATE_RUN)
        locate_platforms(&known);
    names = strchr(path, '/') ? names & LOCATE_CAMPAIGN : names;
    const char *near = why == ENOENT && names && *path
                           ? text_nearest(path, (const char *const *)known.v, known.n)
                           : NULL;
    return fail_at(code, path, 0, "cannot be read: %s%s", strerror(why),
                   near            ? DID_YOU_MEAN(near)
                   : why == ENOENT ? may_be[names]
                                   : "");
}
