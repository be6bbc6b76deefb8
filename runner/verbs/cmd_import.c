/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "import/import_run.h"
#include "import/import_step.h"
#include "verbs/commands.h"

#include <string.h>

struct request {
    const char *out, *platform, *format, **set;
    bool as_launches, step;
    struct facts facts;
    struct import_platform *at;
};

static int check_format(const char *format)
{
    size_t n = 0;
    for (; import_formats[n]; n++)
        if (!strcmp(import_formats[n], format))
            return GS_OK;
    const char *near = text_nearest(format, import_formats, n);
    return fail(GS_USAGE,
                "import: no format '%s'%s; formats are auto, nccl-tests, nccl-json, iteration "
                "and osu",
                format, DID_YOU_MEAN(near));
}

static int read_request(struct request *q)
{
    int code = GS_OK;
    if (!strcmp(q->format, "auto"))
        q->format = NULL;
    if (q->format)
        code = check_format(q->format);
    if (!code && q->platform && import_platform_is(q->platform))
        code = import_platform_read(&q->at, q->platform);
    else if (!code && q->platform)
        code = facts_set(&q->facts, "platform", 8, q->platform, strlen(q->platform));
    for (const char **s = q->set; s && *s && !code; s++)
        code = facts_set_word(&q->facts, *s);
    return code;
}

/* The name "iteration_times_auto.txt" gives the config, if nothing else does. */
static int name_config(struct imported *f)
{
    static const char prefix[] = "iteration_times_";
    size_t n = sizeof prefix - 1, stem = strcspn(f->imp->name, ".");
    if (strcmp(f->imp->format, "iteration") || f->facts.value[FACT_CONFIG] || stem <= n ||
        strncmp(f->imp->name, prefix, n))
        return GS_OK;
    return facts_set(&f->facts, "config", 6, f->imp->name + n, stem - n);
}

static int read_file(const struct request *q, const char *path, struct imported *out)
{
    out->at = q->at;
    facts_copy(&out->facts, &q->facts);
    struct import_known known = {.format = q->format,
                                 .unit = out->facts.value[FACT_UNIT],
                                 .collective = out->facts.value[FACT_COLLECTIVE]};
    if (out->facts.value[FACT_RANKS])
        units_parse_int(out->facts.value[FACT_RANKS], &known.ranks);
    else if (q->at)
        known.ranks = q->at->set.launch.ranks;
    int code = import_read(&out->imp, path, &known);
    return code ? code : name_config(out);
}

static void forget(struct imported *f)
{
    import_free(f->imp);
    facts_free(&f->facts);
}

/* Continues after a refused file, so that all faults are named and the good files are imported. */
static int import(const struct request *q, char *const *paths, size_t n)
{
    AUTO_FREE struct imported *files = xcalloc(n, sizeof *files);
    size_t good = 0;
    int code = GS_OK, written = GS_OK;
    for (size_t i = 0; i < n && code != GS_USAGE; i++) {
        int one = read_file(q, paths[i], &files[good]);
        if (one) {
            forget(&files[good]);
            files[good] = (struct imported){0};
        }
        good += !one;
        code = one == GS_USAGE || !code ? one : code;
        /* One file at a time unless they form one run, to hold the samples of one file in memory. */
        if (!one && !q->as_launches) {
            written = import_write(files, good, q->out, false);
            forget(&files[--good]);
            files[good] = (struct imported){0};
            code = written ? written : code;
        }
    }
    if (good && code != GS_USAGE) {
        written = import_write(files, good, q->out, true);
        code = written ? written : code;
    }
    for (size_t i = 0; i < good; i++)
        forget(&files[i]);
    return code;
}

static int import_one_step(const struct request *q, char *const *paths, int n)
{
    if (n != 1)
        return fail(GS_USAGE, "import: --step takes one file, not %d", n);
    return import_step(paths[0], q->out);
}

static int run(void *request, char **paths, int n)
{
    struct request *q = request;
    if (q->step)
        return import_one_step(q, paths, n);
    q->out = q->out ? q->out : "data/raw";
    int code = read_request(q);
    if (!code)
        code = import(q, paths, (size_t)n);
    facts_free(&q->facts);
    import_platform_free(q->at);
    return code;
}

int cmd_import(int argc, char **argv)
{
    struct request q = {.format = "auto"};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.out, "RAW",
         "folder for the recordings (default data/raw); for --step: the step file to write"},
        {"platform", 0, CLI_TEXT, &q.platform, "NAME",
         "platform that was measured, by name or by config; a config also gives its limits, e.g. "
         "configs/a100-8gpu.ini"},
        {"set", 0, CLI_LIST, &q.set, "KEY=VALUE",
         "give a fact that the files lack, e.g. ranks=8 or config=ring; unit=s, ms or us for "
         "iteration times (default ms); may be repeated"},
        {"format", 0, CLI_TEXT, &q.format, "FORMAT",
         "nccl-tests, nccl-json, iteration (a step time on each line, in milliseconds), osu or "
         "auto "
         "(default auto: recognise the contents)"},
        {"as-launches", 0, CLI_FLAG, &q.as_launches, NULL,
         "make the files of one platform the launches of one run, so that compare can use them"},
        {"step", 0, CLI_FLAG, &q.step, NULL,
         "make a step for iter_proxy (docs/steps.md) from one trace of torch.profiler"},
        CLI_QUIET_ROW,
        {0},
    };
    const struct cli cli = {
        .verb = "import",
        .arguments = "FILE…",
        .summary = "Converts the output of other programs to recordings.",
        .example = "gradsync import --platform dgx --set config=ring all_reduce_perf.txt",
        .options = options,
        .min_args = 1,
        .max_args = -1};
    return cli_request(&cli, argc, argv, run, &q);
}
