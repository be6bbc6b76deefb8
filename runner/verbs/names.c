/* SPDX-License-Identifier: Apache-2.0
 *
 * What gradsync finds here: `gradsync help plugins`, `help configs` and so on, also for scripts and
 * shell completion.
 */
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "config/locate.h"
#include "plugin/plugin.h"
#include "record/runs.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <string.h>

/* Name, version, summary and file of each; or why it cannot be used. */
static void put_plugins(const struct words *names)
{
    for (size_t i = 0; i < names->n; i++) {
        struct plugin *p = NULL;
        char why[1024];
        err_capture(why, sizeof why);
        int code = plugin_try(names->v[i]);
        TRY(code, plugin_load(&p, names->v[i]));
        err_capture(NULL, 0);
        if (code)
            printf("%-16s %-6s %s\n", names->v[i], "-", why);
        else
            printf("%-16s %-6s %s\n%-16s %-6s %s\n", names->v[i], p->wl.version, p->wl.summary, "",
                   "", p->path);
        plugin_unload(code ? NULL : p);
    }
}

/* For make, which cannot quote: a file that others named ends the list. */
static int platforms(struct words *names)
{
    int code = GS_OK;
    *names = (struct words){0};
    files_list("configs", "*.ini", names);
    for (size_t i = 0; i < names->n; i++) {
        char *file = names->v[i];
        if (!printable_name(file))
            code = fail_at(GS_FAILED, "configs", 0, "'%s' is not a name (%s); rename the file",
                           file, PRINTABLE_NAME_RULE);
        file[strlen(file) - strlen(".ini")] = '\0';
    }
    return code;
}

int names_print(const char *kind, bool *known)
{
    AUTO_WORDS struct words names = {0};
    int code = GS_OK;
    *known = true;
    if (!strcmp(kind, "plugins")) {
        plugin_names(&names);
        put_plugins(&names);
        return GS_OK;
    }
    if (!strcmp(kind, "verbs")) {
#define VERB(name, run, arguments, help) words_add(&names, name);
        EACH_VERB(VERB)
#undef VERB
    } else if (!strcmp(kind, "configs")) {
        locate_configs(&names);
    } else if (!strcmp(kind, "runs")) {
        locate_runs(&names);
    } else if (!strcmp(kind, "measured")) {
        locate_platforms(&names);
    } else if (!strcmp(kind, "recordings")) {
        code = runs_names(&names, LOCATE_DATA);
    } else if (!strcmp(kind, "platforms")) {
        code = platforms(&names);
    } else {
        *known = false;
    }
    for (size_t i = 0; i < names.n && !code; i++)
        printf("%s\n", names.v[i]);
    return code;
}
