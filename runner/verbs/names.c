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

static void put_plugin(void *ctx, const char *name, const char *path, const struct plugin *p,
                       const char *why)
{
    (void)ctx;
    printf("%-16s %-6s %s\n%-16s %-6s %s\n", name, p ? p->wl.version : "-", p ? p->wl.summary : why,
           "", "", path);
}

static void verb_names(struct words *names)
{
    *names = (struct words){0};
#define VERB(name, run, arguments, help) words_add(names, name);
    EACH_VERB(VERB)
#undef VERB
}

/* For make, which cannot quote: a folder or file that others named ends the list. */
static int recordings(struct words *names)
{
    *names = (struct words){0};
    return runs_names(names, "data/raw");
}

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

static const struct {
    const char *kind;
    void (*names)(struct words *names);
    int (*sound)(struct words *names);
} kinds[] = {{"verbs", verb_names, NULL},      {"configs", locate_configs, NULL},
             {"runs", locate_runs, NULL},      {"measured", locate_platforms, NULL},
             {"recordings", NULL, recordings}, {"platforms", NULL, platforms}};

int names_print(const char *kind, bool *known)
{
    *known = true;
    if (!strcmp(kind, "plugins"))
        return plugin_each(put_plugin, NULL), GS_OK;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        AUTO_WORDS struct words names = {0};
        if (strcmp(kind, kinds[i].kind))
            continue;
        int code = kinds[i].sound ? kinds[i].sound(&names) : (kinds[i].names(&names), GS_OK);
        for (size_t k = 0; k < names.n && !code; k++)
            printf("%s\n", names.v[k]);
        return code;
    }
    *known = false;
    return GS_OK;
}
