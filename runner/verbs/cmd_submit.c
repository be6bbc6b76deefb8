/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/lock.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "cluster/campaign.h"
#include "cluster/slurm.h"
#include "launch/run.h"
#include "plan/sections.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct submit {
    const char **set;
    const char *root, *workload;
    bool dry_run;
    struct words configs;
    struct sections sections; /* of all configs */
    struct shapes shapes;
    long array_max;
};

/* ---- plans ---- */

static int plan_config(struct submit *s, const char *path)
{
    struct sections one;
    int code = sections_plan(&one, path, s->set, s->workload);
    struct sections *all = &s->sections;
    all->plans = xrealloc(all->plans, (all->n + one.n + 1) * sizeof *all->plans);
    for (size_t i = 0; i < one.n; i++)
        all->plans[all->n++] = one.plans[i];
    all->left_out = err_worse(all->left_out, one.left_out);
    free(one.plans);
    return code;
}

/* A campaign is of one cluster: its jobs are found by their numbers. */
static int one_cluster(const struct submit *s)
{
    const struct plan *first = s->sections.n ? s->sections.plans[0] : NULL;
    for (size_t i = 1; i < s->sections.n; i++)
        if (strcmp(s->sections.plans[i]->set.slurm.clusters, first->set.slurm.clusters))
            return fail_at(GS_USAGE, s->sections.plans[i]->config->path, 0,
                           "[slurm] clusters is not that of %s; submit them apart",
                           first->config->path);
    client_cluster(first ? first->set.slurm.clusters : "");
    return GS_OK;
}

static int plan_all(struct submit *s, char **args, int n)
{
    int code = GS_OK;
    for (int i = 0; !code && i < n; i++)
        code = campaign_configs_add(&s->configs, args[i]);
    for (size_t i = 0; !code && i < s->configs.n; i++)
        code = plan_config(s, s->configs.v[i]);
    code = code ? code : one_cluster(s);
    return code ? code : compose_shapes(&s->shapes, s->sections.plans, s->sections.n);
}

static int ask_cluster(struct submit *s)
{
    int code = compose_check(&s->shapes, s->sections.plans);
    return code ? code : slurm_array_max(&s->array_max);
}

/* A dry run also works without a cluster. */
static int check(struct submit *s)
{
    char why[512] = "";
    if (!s->dry_run)
        return ask_cluster(s);
    s->array_max = 1001;
    err_capture(why, sizeof why);
    int code = ask_cluster(s);
    err_capture(NULL, 0);
    if (code == GS_CANNOT)
        say("no Slurm here: the limits of the cluster were not checked");
    /* The second call prints each fault, which the first one captured. */
    return code && code != GS_CANNOT ? ask_cluster(s) : GS_OK;
}

/* ---- a campaign ---- */

static int write_script(const struct campaign *c, const char *name, const char *text)
{
    return campaign_file(c, name, text, true);
}

static int make_campaign(const struct submit *s, struct campaign *c)
{
    int code = campaign_make(c, s->root);
    if (*s->sections.plans[0]->set.slurm.clusters)
        c->cluster = xstrdup(s->sections.plans[0]->set.slurm.clusters);
    AUTO_FREE char *runs = code ? NULL : campaign_path(c, "runs");
    for (size_t i = 0; !code && i < s->sections.n; i++) {
        char *dir = NULL;
        code = run_make_folder(s->sections.plans[i], runs, &dir);
        if (!code)
            code = campaign_add_run(c, dir, s->sections.plans[i]);
        free(dir);
    }
    if (!code)
        code = compose_tasks(c, &s->shapes, s->sections.plans, s->array_max, write_script);
    return code ? code : campaign_write(c);
}

static int submit(const struct submit *s)
{
    AUTO(campaign_free) struct campaign c = {0};
    int lock = -1, code = make_campaign(s, &c);
    if (!code)
        code = campaign_lock(&c, &lock);
    if (!code)
        code = slurm_submit_tasks(&c, NULL);
    if (!code) {
        say("submitted: %zu task%s in %zu array%s; next: gradsync status %s", c.n_tasks,
            c.n_tasks == 1 ? "" : "s", c.n_arrays, c.n_arrays == 1 ? "" : "s", SHELL_WORD(c.dir));
        printf("%s\n", c.dir);
    } else if (c.n_tasks && campaign_is(c.dir)) {
        say("the campaign remains; correct the cause, then: gradsync resume %s", SHELL_WORD(c.dir));
    }
    lock_free(lock);
    return code;
}

/* ---- dry run ---- */

static int print_script(const struct campaign *c, const char *name, const char *text)
{
    printf("%s/%s:\n%s\n", c->dir, name, text);
    return GS_OK;
}

static void print_command(const struct campaign *c, size_t k)
{
    char *indices = slurm_submit_indices(c, k, NULL), **argv = slurm_submit_command(c, k, indices);
    AUTO_TEXT struct text t = {0};
    for (char **a = argv; *a; a++) {
        text_add(&t, t.len ? " " : "");
        shell_quote(&t, *a);
    }
    printf("%s\n", t.s);
    slurm_command_free(argv);
    free(indices);
}

static int dry_run(const struct submit *s)
{
    AUTO(campaign_free) struct campaign c = {.id = xstrdup("gs-DATE-XXXX")};
    AUTO_FREE char *cwd = getcwd(NULL, 0);
    c.dir = *s->root == '/' ? xstrfmt("%s/%s", s->root, c.id)
                            : xstrfmt("%s/%s/%s", cwd ? cwd : "", s->root, c.id);
    int code = compose_tasks(&c, &s->shapes, s->sections.plans, s->array_max, print_script);
    for (size_t k = 0; !code && k < c.n_arrays; k++)
        print_command(&c, k);
    return code;
}

/* ---- the verb ---- */

static int run(void *request, char **words, int n)
{
    struct submit *s = request;
    int code = plan_all(s, words, n);
    if (!code)
        code = check(s);
    if (!code)
        code = s->dry_run ? dry_run(s) : submit(s);
    code = code ? code : s->sections.left_out;
    shapes_free(&s->shapes);
    sections_free(&s->sections);
    words_free(&s->configs);
    return code;
}

int cmd_submit(int argc, char **argv)
{
    struct submit s = {.root = "data/campaigns"};
    const struct cli_option options[] = {
        CLI_SET_ROW(&s.set),
        {"output", 'o', CLI_TEXT, &s.root, "FOLDER",
         "folder for campaigns, on a file system that all nodes see (default data/campaigns)"},
        {"workload", 'w', CLI_TEXT, &s.workload, "SECTION",
         "submit only this workload section (default: all)"},
        {"dry-run", 'n', CLI_FLAG, &s.dry_run, NULL,
         "print the job scripts and sbatch commands; submit nothing"},
        {"quiet", 'q', CLI_QUIET, NULL, NULL, "print only the campaign's folder, and errors"},
        {0}};
    const struct cli cli = {.verb = "submit",
                            .arguments = "CONFIG | FOLDER…",
                            .summary =
                                "Measures what configs define, in Slurm jobs. The jobs form a "
                                "campaign, a folder for status, resume, cancel and collect.",
                            .example = "gradsync submit a100-8gpu --dry-run",
                            .options = options,
                            .min_args = 1,
                            .max_args = -1};
    return cli_request(&cli, argc, argv, run, &s);
}
