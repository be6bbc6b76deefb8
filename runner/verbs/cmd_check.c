/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/locate.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "verbs/check.h"
#include "verbs/commands.h"

#include <stdlib.h>
#include <string.h>

static int check_so(const char *path, const char *const *overrides)
{
    (void)overrides;
    return check_plugin(path);
}

/* A name without a known ending: a config by its bare name, or a recording. */
static int check_named(const char *name, const char *const *overrides)
{
    char *config = locate_config(name), *run = locate_run(name);
    int code = strcmp(config, name) ? check_config(config, overrides) : check_raw(run);
    free(config);
    free(run);
    return code;
}

static const struct {
    const char *suffix;
    int (*check)(const char *path, const char *const *overrides);
    const char *next; /* verb to suggest when nothing is wrong; NULL: none */
} kinds[] = {
    {".ini", check_config, "plan"},
    {".so", check_so, "help"},
    {"", check_named, NULL},
};

static int check(const char *path, const char *const *overrides)
{
    size_t n = strlen(path), i = 0;
    for (;; i++) {
        size_t s = strlen(kinds[i].suffix);
        if (n >= s && !strcmp(path + n - s, kinds[i].suffix))
            break;
    }
    int code = kinds[i].check(path, overrides);
    if (code)
        return code;
    bool config = kinds[i].check == check_config;
    char *next =
        kinds[i].next ? shell_command(kinds[i].next, path, NULL, config ? overrides : NULL) : NULL;
    say("%s: ok%s%s", path, next ? "; next: " : "", next ? next : "");
    free(next);
    return GS_OK;
}

int cmd_check(int argc, char **argv)
{
    bool quiet = false, done;
    const char **overrides = NULL;
    const struct cli_option options[] = {
        {"set", 's', CLI_LIST, &overrides, "SECTION:KEY=VALUE",
         "override a key of the config; may be repeated"},
        {"quiet", 'q', CLI_FLAG, &quiet, NULL, "print faults only"},
        {0},
    };
    const struct cli cli = {.verb = "check",
                            .arguments = "FILE…",
                            .summary = "Reports every fault in a config (.ini), a plugin (.so), a "
                                       "recording (.jsonl) or all run folders below a folder.",
                            .example = "gradsync check configs/local.ini data/raw",
                            .options = options,
                            .min_args = 1,
                            .max_args = -1};
    char **args = xcalloc((size_t)argc, sizeof *args);
    int n, code = cli_parse(&cli, argc, argv, args, &n, &done);
    say_quiet(quiet);
    int worst = code;
    for (int i = 0; i < n && !code && !done; i++) {
        int one = check(args[i], overrides);
        worst = one > worst ? one : worst;
    }
    free(args);
    cli_free(&cli);
    return worst;
}
