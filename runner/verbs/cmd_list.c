/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync list`: lists the plugins and configs that gradsync finds. With a kind, prints only its
 * names, for scripts and shell completion.
 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/locate.h"
#include "base/printable.h"
#include "base/program_dir.h"
#include "base/text.h"
#include "config/config.h"
#include "plugin/plugin.h"
#include "record/runs.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_plugin(void *ctx, const char *name, const char *path, const struct plugin *p,
                       const char *why)
{
    int *n = ctx;
    ++*n;
    printf("  %-16s %-6s %s\n", name, p ? p->wl.version : "-", p ? p->wl.summary : why);
    printf("  %-16s %-6s %s\n", "", "", path);
}

static void put_config(const char *dir, const char *file)
{
    char why[1024];
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, file);
    AUTO(config_free_of) struct config *c = NULL;
    err_capture(why, sizeof why);
    config_load(&c, path, NULL);
    err_capture(NULL, 0);
    const struct config_entry *title = c ? config_find(c, "platform", "title") : NULL;
    printf("  %-16.*s %s\n", (int)strlen(file) - 4, file, path);
    if (!c || title)
        printf("  %-16s %s\n", "", c ? title->value : why);
}

/* Returns the number of configs. */
static size_t put_configs(const char *dir)
{
    AUTO_WORDS struct words files = {0};
    files_list(dir, "*.ini", &files);
    for (size_t i = 0; i < files.n; i++)
        put_config(dir, files.v[i]);
    return files.n;
}

static int list(void)
{
    int n = 0;
    printf("workload plugins ('gradsync help NAME' shows the parameters)\n");
    plugin_each(put_plugin, &n);
    if (!n)
        printf("  none; searched: $GRADSYNC_PLUGIN_PATH %s %s/plugins %s/../lib/gradsync/plugins\n",
               program_dir(), program_dir(), program_dir());
    printf("\nconfigs ('gradsync plan NAME' shows the cells)\n");
    AUTO_FREE char *installed = locate_installed_configs();
    if (put_configs("configs") + put_configs(installed) == 0)
        printf("  none; searched: configs %s\n", installed);
    return GS_OK;
}

/* ---- names of one kind ---- */

static void verb_names(struct words *names)
{
    *names = (struct words){0};
    main_verbs(names);
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
} kinds[] = {{"verbs", verb_names, NULL},          {"plugins", plugin_names, NULL},
             {"configs", locate_configs, NULL},    {"runs", locate_runs, NULL},
             {"measured", locate_platforms, NULL}, {"recordings", NULL, recordings},
             {"platforms", NULL, platforms}};

static int list_names(const char *kind)
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        AUTO_WORDS struct words names = {0};
        if (strcmp(kind, kinds[i].kind))
            continue;
        int code = kinds[i].sound ? kinds[i].sound(&names) : (kinds[i].names(&names), GS_OK);
        for (size_t k = 0; k < names.n && !code; k++)
            printf("%s\n", names.v[k]);
        return code;
    }
    const char *near = NEAREST(kind, kinds, COUNT(kinds), kind);
    return fail(GS_USAGE,
                "list: no kind '%s'%s; kinds are verbs, plugins, configs, runs, measured, "
                "recordings and platforms",
                kind, DID_YOU_MEAN(near));
}

static int run(void *request, char **words, int n)
{
    (void)request;
    return n ? list_names(words[0]) : list();
}

int cmd_list(int argc, char **argv)
{
    static const struct cli_option options[] = {{0}};
    static const struct cli cli = {
        .verb = "list",
        .arguments = "[verbs | plugins | configs | runs | measured | recordings | platforms]",
        .summary =
            "Lists the workload plugins and configs that gradsync finds, or the names of one "
            "kind, one per line. measured: platforms with recordings; runs: ids of runs; "
            "recordings: run folders below data/raw; platforms: those of configs/.",
        .example = "gradsync list plugins",
        .options = options,
        .max_args = 1};
    return cli_request(&cli, argc, argv, run, NULL);
}
