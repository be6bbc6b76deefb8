/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/locate.h"
#include "base/text.h"
#include "cluster/campaign.h"
#include "cluster/cluster_status.h"
#include "lab/probe.h"
#include "launch/launcher.h"
#include "launch/run.h"
#include "plan/sections.h"
#include "verbs/commands.h"

#include <limits.h>
#include <stdlib.h>

struct run_request {
    const char *launches; /* "3", "2-4"; NULL: all */
    struct cli_int task;  /* 0: none */
    struct words configs;
    const char **overrides;
    struct run_options options;
};

static int run_path(const char *what, const struct run_options *options)
{
    bool folder = files_is_folder(what);
    if (folder && (options->overrides || options->workload))
        return fail(GS_USAGE, "run: --set and --workload need a config; the plan of a run folder "
                              "is fixed");
    if (options->first && !folder)
        return fail(GS_USAGE, "run: --launch needs a run folder; '%s' is not one", what);
    int code = launcher_refuse_ranks("run");
    if (code)
        return code;
    return folder ? run_folder(what, options) : run_config(what, options);
}

static int run_one(const char *what, const struct run_options *options)
{
    AUTO_FREE char *path = locate_run(what);
    return run_path(path, options);
}

/* Checks all configs first: a mistake in the last one must not show after hours of measuring. */
static int check_configs(const struct run_request *a, const struct run_options *options)
{
    int code = GS_OK;
    for (size_t i = 0; i < a->configs.n; i++) {
        struct sections s;
        if (files_is_folder(a->configs.v[i]))
            continue;
        int one = sections_plan(&s, a->configs.v[i], options->overrides, options->workload);
        for (size_t k = 0; !one && k < s.n; k++)
            one = probe_same_links(s.plans[k]);
        code = one == GS_USAGE ? one : code;
        sections_free(&s);
    }
    if (code)
        say("nothing was measured: correct the config, or leave it out");
    return code;
}

/* Runs them one after another; a failure does not stop the next. */
static int run_configs(struct run_request *a, char **args, int n, const struct run_options *options)
{
    bool interrupted = false;
    int code = GS_OK;
    struct run_options each = *options;
    each.interrupted = &interrupted;
    for (int i = 0; !code && i < n; i++)
        code = campaign_configs_add(&a->configs, args[i]);
    if (!code)
        code = check_configs(a, options);
    for (size_t i = 0; code != GS_USAGE && !interrupted && i < a->configs.n; i++)
        code = err_worse(code, run_one(a->configs.v[i], &each));
    return code;
}

static int parse_launches(const char *text, struct run_options *options)
{
    long long first, last;
    const char *end;
    bool good = text_integer(text, 1, INT_MAX, &first, &end);
    last = first;
    if (good && *end == '-')
        good = text_integer(end + 1, first, INT_MAX, &last, &end);
    if (!good || *end)
        return fail(GS_USAGE, "run: --launch '%s' must be a number or a range, e.g. 3 or 2-4",
                    text);
    options->first = (int)first;
    options->last = (int)last;
    return GS_OK;
}

static int run_words(struct run_request *a, char **args, int n)
{
    struct run_options *options = &a->options;
    int code = a->launches ? parse_launches(a->launches, options) : GS_OK;
    if (code)
        return code;
    if (a->task.value && (n != 1 || !campaign_is(args[0])))
        return fail(GS_USAGE, "run: --task needs the folder of one campaign");
    if (a->task.value)
        return campaign_resume_task(args[0], a->task.value);
    if (campaign_is(args[0]))
        return fail(GS_USAGE, "run: only jobs run a campaign, with --task N; use gradsync resume, "
                              "or gradsync run RUN");
    return n > 1 || campaign_configs_is_folder(args[0]) ? run_configs(a, args, n, options)
                                                        : run_one(args[0], options);
}

static int run(void *request, char **words, int n)
{
    struct run_request *a = request;
    a->options.overrides = a->overrides;
    int code = run_words(a, words, n);
    words_free(&a->configs);
    return code;
}

int cmd_run(int argc, char **argv)
{
    struct run_request a = {.task = {.min = 1, .max = LONG_MAX}, .options = {.data = RUN_DATA}};
    const struct cli_option table[] = {
        CLI_SET_ROW(&a.overrides),
        {"output", 'o', CLI_TEXT, &a.options.data, "RAW",
         "folder for the recordings (default data/raw)"},
        {"workload", 'w', CLI_TEXT, &a.options.workload, "SECTION",
         "run only this workload section (default: all)"},
        {"launch", 'l', CLI_TEXT, &a.launches, "N[-M]",
         "run only launch N, or launches N to M, of a run folder"},
        {"task", 't', CLI_INT, &a.task, "N", "run task N of a campaign; job scripts use this"},
        {"quiet", 'q', CLI_QUIET, &a.options.quiet, NULL, "print errors only, no progress"},
        {"json", 0, CLI_FLAG, &a.options.json, NULL, "print a summary as JSON"},
        {0}};
    const struct cli cli = {.verb = "run",
                            .arguments = "CONFIG… | RUN",
                            .summary = "Measures what configs (or a folder of configs) define, or "
                                       "the missing cells of a run folder.",
                            .example = "gradsync run local --set measure:launches=3",
                            .options = table,
                            .min_args = 1,
                            .max_args = -1};
    return cli_request(&cli, argc, argv, run, &a);
}
