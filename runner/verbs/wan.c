/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/text.h"
#include "common/collective.h"
#include "config/config.h"
#include "config/locate.h"
#include "config/settings.h"
#include "lab/lab.h"
#include "lab/relay.h"
#include "lab/spec.h"
#include "launch/run.h"
#include "reduce/links.h"
#include "verbs/commands.h"
#include "wan/wan_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- model ---- */

struct model_request {
    const char **set;
    const char *csv, *claims;
    bool quiet, plan;
};

static int model(void *request, char **words, int n)
{
    (void)n;
    const struct model_request *q = request;
    if (q->plan && (q->csv || q->claims))
        return fail(GS_USAGE, "model: --plan writes no CSV; leave out --%s or --plan",
                    q->csv ? "csv" : "claims");
    AUTO(config_free_of) struct config *c = NULL;
    struct settings set;
    AUTO(wan_map_free) struct wan_map m = {0};
    struct wan_training t;
    CHECK(config_load(&c, words[0], q->set));
    CHECK(settings_read(c, &set));
    if (!config_section(c, "model"))
        return fail_at(GS_USAGE, c->path, 0, "no [model] section; add one (gradsync help model)");
    CHECK(wan_map_read(&m, c));
    wan_map_disturb(&m);
    CHECK(wan_training_read(&t, c, &m));
    if (q->plan && m.n < 2)
        return fail_at(GS_USAGE, c->path, 0, "[sites] has one site; a plan is for two or more");
    if (q->plan) {
        if (!q->quiet)
            wan_report_plan(&m, &t);
        return GS_OK;
    }
    struct wan_report r = {.name = set.platform.name, .map = &m, .training = &t};
    struct wan_finding *findings = wan_audit(c, &m, &t, &r.n_findings);
    if (!findings)
        return GS_USAGE;
    r.findings = findings;
    if (!q->quiet)
        wan_report_print(&r);
    int code = q->csv ? wan_report_csv(&r, q->csv) : GS_OK;
    if (q->claims)
        TRY(code, wan_report_claims_csv(&r, q->claims));
    wan_findings_free(findings, r.n_findings);
    return code;
}

int cmd_model(int argc, char **argv)
{
    struct model_request q = {0};
    const struct cli_option options[] = {
        CLI_SET_ROW(&q.set),
        {"csv", 'c', CLI_TEXT, &q.csv, "FILE",
         "write the model for a range of every, bits, rates and strategies"},
        {"claims", 0, CLI_TEXT, &q.claims, "FILE",
         "write the claims and what is physically possible, as CSV"},
        {"plan", 'p', CLI_FLAG, &q.plan, NULL,
         "print which settings of wan_sync to choose: strategy, wire, every"},
        {"quiet", 'q', CLI_QUIET, &q.quiet, NULL, "print errors only"},
        {0}};
    const struct cli cli = {.arguments = "CONFIG",
                            .summary = "Computes the efficiency of a training between sites and "
                                       "what it needs. Runs nothing.",
                            .example = "gradsync model wan-4site --csv model.csv",
                            .options = options,
                            .args = {1, 1}};
    return cli_request(&cli, argc, argv, model, &q);
}

/* ---- links ---- */

#define SECTION "wan_links"

struct links_request {
    const char **set;
    const char *data, *write;
    bool quiet;
};

/* The sites of the config and what measures between them. */
struct job {
    struct config *config;
    struct words *sites;
    struct words overrides;
    struct text text; /* the config, with a section [wan_links] */
};

static void job_free(struct job *j)
{
    words_free(&j->overrides);
    text_free(&j->text);
    config_free(j->config);
}

static void list_sites(const struct config *c, struct words *sites)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->entries[i].section, "sites"))
            words_add(sites, c->entries[i].key);
}

static int read_sites(struct job *j, const char *hosts, int64_t nodes)
{
    AUTO_WORDS struct words host = {0};
    list_sites(j->config, j->sites);
    const size_t n = j->sites->n;
    if (*hosts)
        words_split(&host, hosts, ',');
    if (n < 2)
        return fail_at(GS_USAGE, j->config->path, 0,
                       "[sites] has %zu site%s; links need two or more: add a line for each site "
                       "(gradsync help sites)",
                       n, n == 1 ? "" : "s");
    if (*hosts ? host.n != n : nodes < (int64_t)n)
        return fail_at(GS_USAGE, j->config->path, 0,
                       "[launch] hosts has %zu hosts for %zu sites; name one host of each site, in "
                       "the order of [sites], e.g. --set launch:hosts=a,b",
                       host.n, n);
    if (*hosts)
        words_addf(&j->overrides, "launch:nodes=%zu", n);
    return GS_OK;
}

/* One block of every cell: the user's own --set come later, and win. */
static void add_overrides(struct job *j, const char *const *set)
{
    static const char *const once[] = {"measure:launches=1",
                                       "measure:blocks=1",
                                       "measure:max_blocks=1",
                                       "measure:samples=1",
                                       "measure:discard=0",
                                       "measure:warmup=0",
                                       "measure:warmup_ops=0",
                                       "measure:budget=1ms",
                                       "measure:baseline=",
                                       "launch:oversubscribe=yes",
                                       NULL};
    words_addf(&j->overrides, "launch:ranks=%zu", j->sites->n);
    for (size_t i = 0; once[i]; i++)
        words_add(&j->overrides, once[i]);
    for (size_t i = 0; set && set[i]; i++)
        words_add(&j->overrides, set[i]);
}

static int make_text(struct job *j)
{
    if (!files_read(j->config->path, FILES_GIVEN, FILES_WHOLE_MAX, &j->text))
        return fail_at(GS_FAILED, j->config->path, 0, "cannot be read: %s", files_why(errno));
    if (!config_section(j->config, SECTION)) {
        text_add(&j->text, "\n" LINKS_ADDED "\n[" SECTION "]\nway = alone, all\nround = 1");
        for (int round = 2; round <= collective_rounds((int)j->sites->n); round++)
            text_addf(&j->text, ", %d", round);
        text_add(&j->text, "\n");
        /* It connects as wan_sync does. */
        for (size_t i = 0; i < j->config->n; i++) {
            const struct config_entry *e = &j->config->entries[i];
            if (!strcmp(e->section, "wan_sync") &&
                text_lists("interface,port,timeout", ",", e->key))
                text_addf(&j->text, "%s = %s\n", e->key, e->value);
        }
    }
    return GS_OK;
}

static int measure(const struct links_request *q, const char *path, char **dir, struct words *sites)
{
    AUTO(job_free) struct job j = {.sites = sites};
    struct settings set;
    CHECK(config_load(&j.config, path, q->set));
    CHECK(settings_read(j.config, &set));
    CHECK(read_sites(&j, set.launch.hosts, set.launch.nodes));
    CHECK(make_text(&j));
    add_overrides(&j, q->set);
    return run_config_text(path, &j.text,
                           &(struct run_options){.overrides = (const char **)j.overrides.v,
                                                 .data = q->data,
                                                 .workload = SECTION,
                                                 .quiet = q->quiet,
                                                 .dir = dir});
}

/* The config that was measured, with what was found: complete, so that a recording of it is, too. */
static int write_config(const struct links *l, const char *dir, const char *to)
{
    AUTO_FREE char *path = xstrfmt("%s/config.ini", dir), *text = NULL;
    AUTO_TEXT struct text config = {0};
    if (!files_read(path, FILES_OWN, FILES_WHOLE_MAX, &config))
        return fail_at(GS_FAILED, path, 0, "cannot be read: %s", files_why(errno));
    text = links_config_text(l, config.s, path_name(dir));
    if (!files_replace(to, text, 0644))
        return fail_file(to, "written", errno);
    AUTO(config_free_of) struct config *written = NULL;
    CHECK(config_from_text(&written, to, text, strlen(text), NULL));
    say("written: %s; next: %sgradsync model --plan %s", to,
        config_section(written, "model") ? ""
                                         : "add the section [model] ('gradsync help model'), then ",
        SHELL_WORD(to));
    return GS_OK;
}

static int links_answer(const struct links_request *q, const char *dir, const struct words *sites)
{
    AUTO(links_free) struct links l = {0};
    CHECK(links_read(&l, dir));
    if (sites->n != l.n)
        return fail(GS_USAGE, "%s: %zu ranks for the %zu sites of its config", dir, l.n, sites->n);
    for (size_t i = 0; i < sites->n; i++)
        xstrset(&l.names[i], sites->v[i]);
    if (!q->quiet)
        links_print(&l);
    return q->write ? write_config(&l, dir, q->write) : GS_OK;
}

static int run(void *request, char **words, int n)
{
    (void)n;
    const struct links_request *q = request;
    AUTO_WORDS struct words sites = {0};
    say_quiet(q->quiet);
    AUTO_FREE char *run = locate_run(words[0]), *measured = NULL;
    bool folder = files_is_folder(run);
    if (folder) {
        AUTO_FREE char *config = xstrfmt("%s/config.ini", run);
        AUTO(config_free_of) struct config *c = NULL;
        CHECK(config_load(&c, config, NULL));
        list_sites(c, &sites);
    }
    int code = folder ? GS_OK : measure(q, words[0], &measured, &sites);
    const char *dir = folder ? run : measured;
    return code || !dir ? code : links_answer(q, dir, &sites);
}

int cmd_links(int argc, char **argv)
{
    struct links_request q = {.data = RUN_DATA};
    const struct cli_option options[] = {
        CLI_SET_ROW(&q.set),
        {"output", 'o', CLI_TEXT, &q.data, "DATA", "folder for the recording (default data/raw)"},
        {"write", 'w', CLI_TEXT, &q.write, "FILE",
         "write the config again, with the links that were measured"},
        {"quiet", 'q', CLI_FLAG, &q.quiet, NULL, "print errors only"},
        {0}};
    const struct cli cli = {
        .arguments = "CONFIG | RUN",
        .summary = "Measures the links between the sites of a config, over the ports of wan_sync: "
                   "rates, RTT, loss, MTU. With RUN: prints the result of that earlier run.",
        .example = "gradsync links my-sites.ini --write measured.ini",
        .options = options,
        .args = {1, 1}};
    return cli_request(&cli, argc, argv, run, &q);
}

/* ---- lab ---- */

/* As with ssh, the words after the site are a line for a shell. After "--" they are a command. */
static int enter(char **words, int n)
{
    AUTO_TEXT struct text line = {0};
    bool command = n > 1 && !strcmp(words[1], "--");
    if (n < 2 + command || *words[0] == '-')
        return fail(GS_USAGE,
                    "usage: gradsync lab enter SITE [--] COMMAND...; without -- the words "
                    "are a line for the shell, as with ssh");
    if (command)
        return lab_enter(words[0], words + 2);
    for (int i = 1; i < n; i++)
        text_addf(&line, "%s%s", i > 1 ? " " : "", words[i]);
    return lab_enter(words[0], (char *[]){"/bin/sh", "-c", line.s, NULL});
}

static int set(char **words, int n)
{
    AUTO_JSON json_t *facts = NULL;
    AUTO_TEXT struct text order = {0};
    AUTO_FREE char *answer = NULL;
    if (!n || *words[0] == '-')
        return fail(GS_USAGE, "usage: gradsync lab set ORDER: rate WHERE 100Mbit/s, down WHERE, up "
                              "WHERE, reset or stats; WHERE is a site, two sites A-B, or 'A>B'");
    for (int i = 0; i < n; i++)
        text_addf(&order, "%s%s", i ? " " : "", words[i]);
    CHECK(lab_facts_read(&facts));
    if (!facts)
        return fail(GS_USAGE,
                    "lab set: not in a lab; it works only in commands that gradsync lab runs");
    int code = relay_order(json_text_of(facts, "control"), order.s, &answer);
    if (answer)
        puts(answer);
    return code;
}

static int lab(void *request, char **words, int n)
{
    (void)n;
    const char **const *set = request;
    AUTO(config_free_of) struct config *c = NULL;
    AUTO(lab_spec_free) struct lab_spec s = {0};
    CHECK(config_load(&c, words[0], *set));
    CHECK(lab_spec_read(&s, c));
    return lab_run(&s, words + 1);
}

int cmd_lab(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "enter"))
        return enter(argv + 2, argc - 2);
    if (argc > 1 && !strcmp(argv[1], "set"))
        return set(argv + 2, argc - 2);
    const char **set_keys = NULL;
    const struct cli_option options[] = {CLI_SET_ROW(&set_keys), CLI_QUIET_ROW, {0}};
    const struct cli cli = {
        .arguments = "CONFIG -- COMMAND...",
        .summary =
            "Emulates several sites on this machine, with the links of [sites] and [links], and "
            "runs a command at the first site. In it, gradsync lab enter SITE COMMAND runs a "
            "command at another site, and gradsync lab set ORDER changes a link.",
        .example = "gradsync lab wan-lab -- gradsync run wan-lab",
        .options = options,
        .args = {2, -1}};
    return cli_request(&cli, argc, argv, lab, &set_keys);
}
