/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync check FILE`: reports every fault of a file, one per line. Each function returns GS_OK or
 * the exit code of the worst fault.
 */
#include "base/cli.h"
#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/text.h"
#include "config/config.h"
#include "config/locate.h"
#include "config/params.h"
#include "launch/launcher.h"
#include "launch/run.h"
#include "plan/plan.h"
#include "plugin/plugin.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/record.h"
#include "record/runs.h"
#include "store/limits.h"
#include "verbs/commands.h"
#include "wan/wan_audit.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- check config ---- */

/* [sites], [links] and [model]: faults, and warnings of claims that are impossible. */
static int check_sites(const struct config *c)
{
    AUTO(wan_map_free) struct wan_map m = {0};
    struct wan_training t;
    size_t n;
    bool model = config_section(c, "model");
    if (!model && !config_section(c, "sites"))
        return GS_OK;
    CHECK(wan_map_read(&m, c));
    if (!model)
        return GS_OK;
    CHECK(wan_training_read(&t, c, &m));
    struct wan_finding *f = wan_audit(c, &m, &t, &n);
    for (size_t i = 0; f && i < n; i++)
        if (f[i].verdict != WAN_POSSIBLE)
            fail_at(GS_OK, f[i].entry->file, f[i].entry->line, "warning: key '%s': %s",
                    f[i].entry->key, f[i].why.s);
    wan_findings_free(f, n);
    return f ? GS_OK : GS_USAGE;
}

/* Reads every section, and plans every workload. */
static int check_config(const char *path, const char *const *overrides)
{
    struct config *c;
    struct settings set;
    int code = config_load_all(&c, path, overrides);
    if (!c)
        return code;
    AUTO(plan_sections_free) struct sections s = {0};
    bool sites_only = !config_workload(c, 0) && config_section(c, "model");
    int read = sites_only ? settings_read(c, &set) : plan_sections_of(&s, c, NULL);
    code = err_worse(err_worse(code, read), s.left_out);
    code = err_worse(code, check_sites(c));
    code = err_worse(code, limits_claims_check(c));
    config_free(c);
    return code;
}

/* ---- check plugin ----
 *
 * `gradsync check X.so`: reads the plugin's tables in a child process, because they may crash it.
 * Then it measures one block of the default cell on two ranks, as `run` does. Built with ASan, it
 * finds wrong addresses too.
 */

/* ---- the tables ---- */

static int read_tables(const char *path, void *ctx)
{
    (void)ctx;
    struct plugin *p;
    CHECK(plugin_open(&p, path));
    CHECK(plugin_lint(p));
    size_t metrics = 0;
    while (p->wl.metrics[metrics].name)
        metrics++;
    size_t params = params_count(p->wl.params);
    say("%s: %s %s, %zu parameter%s, %zu metric%s: the tables are correct", path, p->wl.name,
        p->wl.version, params, params == 1 ? "" : "s", metrics, metrics == 1 ? "" : "s");
    return GS_OK;
}

/* ---- one block ---- */

/* The plugin's default cell, on the normal path. */
static const char trial_config[] = "[platform]\n"
                                   "name = check\n"
                                   "[launch]\n"
                                   "ranks = 2\n"
                                   "oversubscribe = yes\n"
                                   "bind = none\n"
                                   "[measure]\n"
                                   "launches = 1\n"
                                   "blocks = 1\n"
                                   "max_blocks = 1\n"
                                   "warmup = 0\n"
                                   "warmup_ops = 1\n"
                                   "retries = 0\n"
                                   "deadline = %d\n"
                                   "[%s]\n";

/* In this process, which the plugin may end. */
static int measure_block(const char *path, void *ctx)
{
    const char *data = ctx;
    alarm(0); /* the run has a deadline of its own */
    AUTO_FREE char *absolute = realpath(path, NULL), *dir = xstrdup(absolute ? absolute : path);
    AUTO_TEXT struct text text = {0};
    const char *file = path_name(path);
    AUTO_FREE char *name = xstrfmt("%.*s", (int)strlen(file) - 3, file);
    const struct run_options options = {.data = data, .quiet = true};
    dir[strlen(dir) - strlen(path_name(dir))] = '\0';
    setenv("GRADSYNC_PLUGIN_PATH", dir, 1);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    say_quiet(1);
    text_addf(&text, trial_config, PLUGIN_SILENCE_S, name);
    return run_config_text(path, &text, &options);
}

static int check_block(const char *path)
{
    const char *tmp = getenv("TMPDIR");
    AUTO_FREE char *data = xstrfmt("%s/gradsync-check.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(data))
        return fail(GS_CANNOT, "%s cannot be created: %s; set TMPDIR to a writable folder", data,
                    strerror(errno));
    int code = plugin_apart(measure_block, path, (void *)data, "while a block of it is planned");
    if (code == GS_FAILED) {
        say("%s: the recording and the output of the ranks are below %s", path, data);
        return code;
    }
    files_remove_tree(data);
    if (code == GS_OK)
        say("%s: a block on 2 ranks was measured and is right", path);
    return code;
}

/* ---- check raw ---- */

static int check_tree(const char *dir)
{
    AUTO(runs_free) struct runs runs = {.unsorted = true};
    int code = GS_OK;
    CHECK(runs_find(&runs, dir));
    if (!runs.n)
        return fail_at(GS_USAGE, dir, 0, "holds no recording");
    for (size_t i = 0; i < runs.n; i++) {
        int sealed = manifest_verify(runs.v[i].dir), lines = ledger_check_run(runs.v[i].dir);
        code = code ? code : sealed ? sealed : lines;
    }
    return code;
}

/* Checks the file alone, and against the manifest and plan beside it. */
static int check_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = path_name(path);
    AUTO_FREE char *dir = slash ? xstrfmt("%.*s", (int)(slash - path), path) : xstrdup(".");
    AUTO_FREE char *manifest = xstrfmt("%s/%s", dir, RECORD_MANIFEST);
    int code = GS_OK;
    if (!access(manifest, F_OK)) {
        int listed = manifest_verify_file(dir, name);
        /* Without the plan, the recording is not checked against it. */
        int planned = manifest_verify_file(dir, "plan.json");
        code = listed ? listed : planned;
    }
    int one = ledger_check_file(path);
    return code ? code : one;
}

static int check_raw(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return locate_failed(GS_USAGE, path, LOCATE_CONFIG | LOCATE_RUN);
    if (S_ISREG(st.st_mode) && !st.st_size)
        return fail_at(GS_FAILED, path, 0, "empty: a recording begins with a header");
    /* Files of other programs are not called damaged. */
    static const char begins[] = "{\"type\":";
    char start[sizeof begins - 1];
    AUTO_FCLOSE FILE *f = S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    size_t n = f ? fread(start, 1, sizeof start, f) : 0;
    if (S_ISREG(st.st_mode) && !text_ends(path, ".jsonl") && memcmp(start, begins, n) != 0)
        return fail_at(GS_USAGE, path, 0,
                       "nothing to check: not a config (.ini), a plugin (.so) or a recording "
                       "(.jsonl)");
    return S_ISDIR(st.st_mode) ? check_tree(path) : check_file(path);
}

/* ---- check ---- */

/* Checks it, and names the next command. A name without a known ending is a config by its bare name, or
 * a recording. */
static int check_one(const char *path, const char *const *overrides)
{
    AUTO_FREE char *config = locate_config(path), *run = locate_run(path), *next = NULL;
    if (text_ends(path, ".ini")) {
        CHECK(check_config(path, overrides));
        AUTO(config_free_of) struct config *c = NULL;
        CHECK(config_load(&c, path, overrides));
        next = config_command(config_workload(c, 0) ? "plan" : "model", path, NULL, overrides);
    } else if (text_ends(path, ".so")) {
        CHECK(plugin_apart(read_tables, path, NULL, "while it is loaded or its tables are read"));
        CHECK(check_block(path));
        next = config_command("help", path, NULL, NULL);
    } else {
        CHECK(strcmp(config, path) ? check_config(config, overrides) : check_raw(run));
    }
    say("%s: ok%s%s", path, next ? "; next: " : "", next ? next : "");
    return GS_OK;
}

struct check_request {
    const char **overrides, *root;
    bool machine;
};

static int check(void *request, char **paths, int n)
{
    const struct check_request *q = request;
    int worst = q->machine ? machine_check(q->root) : GS_OK;
    if (!n && !q->machine)
        return fail(GS_USAGE, "check: give a file or folder, or --machine");
    for (int i = 0; i < n; i++) {
        int one = check_one(paths[i], q->overrides);
        worst = one > worst ? one : worst;
    }
    return worst;
}

int cmd_check(int argc, char **argv)
{
    struct check_request q = {0};
    const struct cli_option options[] = {
        CLI_SET_ROW(&q.overrides),
        {"machine", 'm', CLI_FLAG, &q.machine, NULL,
         "show the network ports and GPUs of this machine, and the NCCL settings that gradsync "
         "would choose"},
        {"root", 'r', CLI_TEXT, &q.root, "DIR",
         "with --machine: read DIR/sys and DIR/proc instead of /sys and /proc"},
        {"quiet", 'q', CLI_QUIET, NULL, NULL, "print faults only"},
        {0},
    };
    const struct cli cli = {.arguments = "[FILE…]",
                            .summary = "Reports every fault in a config (.ini), a plugin (.so), a "
                                       "recording (.jsonl) or all run folders below a folder.",
                            .example = "gradsync check configs/local.ini data/raw",
                            .options = options,
                            .args = {0, -1}};
    return cli_request(&cli, argc, argv, check, &q);
}
