/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/locate.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "config/config.h"
#include "verbs/check.h"
#include "verbs/commands.h"

#include <string.h>

static int check_so(const char *path, const char *const *overrides)
{
    (void)overrides;
    return check_plugin(path);
}

/* A name without a known ending: a config by its bare name, or a recording. */
static int check_named(const char *name, const char *const *overrides)
{
    AUTO_FREE char *config = locate_config(name), *run = locate_run(name);
    return strcmp(config, name) ? check_config(config, overrides) : check_raw(run);
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

/* The next command after a check. plan has nothing to do for a config with [model] alone. */
static bool has_workload(const char *path, const char *const *overrides)
{
    AUTO(config_free_of) struct config *c = NULL;
    return config_load(&c, path, overrides) == GS_OK && config_workload(c, 0);
}

static int check_one(const char *path, const char *const *overrides)
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
    const char *verb = config && !has_workload(path, overrides) ? "model" : kinds[i].next;
    AUTO_FREE char *next = verb ? shell_command(verb, path, NULL, config ? overrides : NULL) : NULL;
    say("%s: ok%s%s", path, next ? "; next: " : "", next ? next : "");
    return GS_OK;
}

static int check(void *overrides, char **paths, int n)
{
    int worst = GS_OK;
    for (int i = 0; i < n; i++) {
        int one = check_one(paths[i], *(const char ***)overrides);
        worst = one > worst ? one : worst;
    }
    return worst;
}

int cmd_check(int argc, char **argv)
{
    const char **overrides = NULL;
    const struct cli_option options[] = {
        CLI_SET_ROW(&overrides),
        {"quiet", 'q', CLI_QUIET, NULL, NULL, "print faults only"},
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
    return cli_request(&cli, argc, argv, check, &overrides);
}
