/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/locate.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "common/round_peer.h"
#include "config/config.h"
#include "config/settings.h"
#include "launch/run.h"
#include "reduce/links_read.h"
#include "verbs/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTION "wan_links"

struct request {
    const char **set;
    const char *data, *write;
    bool quiet;
};

/* The sites of the config and what measures between them. */
struct job {
    struct config *config;
    struct words sites;
    struct words overrides;
    struct text text; /* the config, with a section [wan_links] */
};

static void list_sites(const struct config *c, struct words *sites)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->entries[i].section, "sites"))
            words_add(sites, c->entries[i].key);
}

static int read_sites(struct job *j, const char *hosts, int64_t nodes)
{
    AUTO_WORDS struct words host = {0};
    int code = GS_OK;
    list_sites(j->config, &j->sites);
    if (*hosts)
        words_split(&host, hosts, ',');
    if (j->sites.n < 2)
        code = fail_at(GS_USAGE, j->config->path, 0,
                       "[sites] has %zu site%s; links need two or more: add a line for each site "
                       "(gradsync help sites)",
                       j->sites.n, j->sites.n == 1 ? "" : "s");
    else if (*hosts ? host.n != j->sites.n : nodes < (int64_t)j->sites.n)
        code = fail_at(GS_USAGE, j->config->path, 0,
                       "[launch] hosts has %zu hosts for %zu sites; name one host of each site, in "
                       "the order of [sites], e.g. --set launch:hosts=a,b",
                       host.n, j->sites.n);
    if (!code && *hosts)
        words_addf(&j->overrides, "launch:nodes=%zu", j->sites.n);
    return code;
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
    words_addf(&j->overrides, "launch:ranks=%zu", j->sites.n);
    for (size_t i = 0; once[i]; i++)
        words_add(&j->overrides, once[i]);
    for (size_t i = 0; set && set[i]; i++)
        words_add(&j->overrides, set[i]);
}

/* How wan_sync connects, so does wan_links. */
static void copy_connection(struct job *j)
{
    static const char *const keys[] = {"interface", "port", "addresses", "timeout"};
    for (size_t i = 0; i < j->config->n; i++) {
        const struct config_entry *e = &j->config->entries[i];
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (!strcmp(e->section, "wan_sync") && !strcmp(e->key, keys[k]))
                text_addf(&j->text, "%s = %s\n", e->key, e->value);
    }
}

static int make_text(struct job *j)
{
    if (!files_read(j->config->path, FILES_GIVEN, FILES_WHOLE_MAX, &j->text))
        return fail_at(GS_FAILED, j->config->path, 0, "cannot be read: %s", files_why(errno));
    if (!config_section(j->config, SECTION)) {
        text_add(&j->text, "\n" LINKS_ADDED "\n[" SECTION
                           "]\nway = idle, alone, both, all\nstreams = 1, 4, 8, 16\n"
                           "congestion = cubic, bbr\nround = 1");
        for (int round = 2; round <= round_count((int)j->sites.n); round++)
            text_addf(&j->text, ", %d", round);
        text_add(&j->text, "\n");
        copy_connection(j);
    }
    return GS_OK;
}

/* As a file of the same name, which gives the platform its name. */
static int run_text(struct job *j, const struct run_options *options)
{
    char folder[] = "/tmp/gradsync-links-XXXXXX";
    if (!mkdtemp(folder))
        return fail_file(folder, "created", errno);
    AUTO_FREE char *path = xstrfmt("%s/%s", folder, path_name(j->config->path));
    int code = files_write_new(path, j->text.s, 0600) ? run_config(path, options)
                                                      : fail_file(path, "written", errno);
    unlink(path);
    rmdir(folder);
    return code;
}

static int measure(const struct request *q, const char *path, char **dir, struct words *sites)
{
    struct job j = {0};
    struct settings set;
    int code = config_load(&j.config, path, q->set);
    if (code)
        return code;
    code = settings_read(j.config, &set);
    if (!code)
        code = read_sites(&j, set.launch.hosts, set.launch.nodes);
    if (!code)
        code = make_text(&j);
    if (!code) {
        add_overrides(&j, q->set);
        const struct run_options options = {.overrides = (const char *const *)j.overrides.v,
                                            .data = q->data,
                                            .workload = SECTION,
                                            .quiet = q->quiet,
                                            .dir = dir};
        code = run_text(&j, &options);
    }
    *sites = j.sites;
    words_free(&j.overrides);
    text_free(&j.text);
    config_free(j.config);
    return code;
}

/* The sites of a run that was measured before, by its config. */
static int recorded_sites(const char *dir, struct words *sites)
{
    AUTO_FREE char *path = xstrfmt("%s/config.ini", dir);
    AUTO(config_free_of) struct config *c = NULL;
    int code = config_load(&c, path, NULL);
    if (!code)
        list_sites(c, sites);
    return code;
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
    int code = config_from_text(&written, to, text, strlen(text), NULL);
    if (!code)
        say("written: %s; next: %sgradsync model --plan %s", to,
            config_section(written, "model")
                ? ""
                : "add the section [model] ('gradsync help model'), then ",
            SHELL_WORD(to));
    return code;
}

static int answer(const struct request *q, const char *dir, const struct words *sites)
{
    AUTO(links_free) struct links l = {0};
    int code = links_read(&l, dir);
    if (!code && sites->n != l.n)
        code = fail(GS_USAGE, "%s: %zu ranks for the %zu sites of its config", dir, l.n, sites->n);
    for (size_t i = 0; !code && i < sites->n; i++) {
        free(l.names[i]);
        l.names[i] = xstrdup(sites->v[i]);
    }
    if (!code && !q->quiet)
        links_print(&l);
    if (!code && q->write)
        code = write_config(&l, dir, q->write);
    return code;
}

static int run(void *request, char **words, int n)
{
    (void)n; /* one: min_args and max_args say so */
    const struct request *q = request;
    AUTO_WORDS struct words sites = {0};
    say_quiet(q->quiet);
    AUTO_FREE char *run = locate_run(words[0]), *measured = NULL;
    bool folder = files_is_folder(run);
    int code = folder ? recorded_sites(run, &sites) : measure(q, words[0], &measured, &sites);
    const char *dir = folder ? run : measured;
    return code || !dir ? code : answer(q, dir, &sites);
}

int cmd_links(int argc, char **argv)
{
    struct request q = {.data = RUN_DATA};
    const struct cli_option options[] = {
        {"set", 's', CLI_LIST, &q.set, "SECTION:KEY=VALUE",
         "override a key of the config; may be repeated"},
        {"output", 'o', CLI_TEXT, &q.data, "DATA", "folder for the recording (default data/raw)"},
        {"write", 'w', CLI_TEXT, &q.write, "FILE",
         "write the config again, with the links that were measured"},
        {"quiet", 'q', CLI_FLAG, &q.quiet, NULL, "print errors only"},
        {0}};
    const struct cli cli = {
        .verb = "links",
        .arguments = "CONFIG | RUN",
        .summary =
            "Measures the links between the sites of a config, over the ports of wan_sync: "
            "rates by streams and congestion control, RTT, loss, MTU. With RUN: prints the result "
            "of that earlier run.",
        .example = "gradsync links my-sites.ini --write measured.ini",
        .options = options,
        .min_args = 1,
        .max_args = 1};
    return cli_request(&cli, argc, argv, run, &q);
}
