/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "config/config.h"
#include "lab/lab.h"
#include "lab/relay.h"
#include "lab/spec.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option no_options[] = {{0}};

/* ---- lab ---- */

struct request {
    struct lab_options lab;
    const char **set;
};

static int lab(void *request, char **words, int n)
{
    (void)n;
    const struct request *q = request;
    AUTO(config_free_of) struct config *c = NULL;
    AUTO(lab_spec_free) struct lab_spec s = {0};
    int code = config_load(&c, words[0], q->set);
    if (code)
        return code;
    code = lab_spec_read(&s, c);
    return code ? code : lab_run(&s, &q->lab, words + 1);
}

int cmd_lab(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        CLI_SET_ROW(&q.set),
        {"report", 'r', CLI_TEXT, &q.lab.report, "FILE",
         "write the configured links, and those measured before and after the command, as JSON"},
        {"quiet", 'q', CLI_QUIET, &q.lab.quiet, NULL, "print errors only"},
        {0}};
    const struct cli cli = {.verb = "lab",
                            .arguments = "CONFIG -- COMMAND...",
                            .summary = "Emulates several sites on this machine, with the links of "
                                       "[sites] and [links], and runs a command at the first site.",
                            .example = "gradsync lab wan-lab -- gradsync run wan-lab",
                            .options = options,
                            .min_args = 2,
                            .max_args = -1};
    return cli_request(&cli, argc, argv, lab, &q);
}

/* ---- lab-enter ---- */

/* As with ssh, the words after the site are a line for a shell. After "--" they are a command. */
int cmd_lab_enter(int argc, char **argv)
{
    const struct cli cli = {.verb = "lab-enter",
                            .arguments = "SITE [--] COMMAND...",
                            .summary =
                                "Runs a command at another site of the lab in which it is called. "
                                "Without --, the words are a line for the shell, as with ssh.",
                            .example = "gradsync lab-enter east -- ip address",
                            .options = no_options,
                            .min_args = 2,
                            .max_args = -1};
    char *help[] = {argv[0], argc > 1 ? argv[1] : NULL, NULL}, *args[2];
    bool done = false;
    int n;
    if (argc < 3 || *argv[1] == '-') {
        int code = cli_parse(&cli, argc > 1 ? 2 : 1, help, args, &n, &done);
        return code || done ? code : GS_USAGE;
    }
    if (!strcmp(argv[2], "--"))
        return argc > 3 ? lab_enter(argv[1], argv + 3)
                        : fail(GS_USAGE, "lab-enter: no command after --");
    AUTO_TEXT struct text line = {0};
    for (int i = 2; i < argc; i++)
        text_addf(&line, "%s%s", i > 2 ? " " : "", argv[i]);
    return lab_enter(argv[1], (char *[]){"/bin/sh", "-c", line.s, NULL});
}

/* ---- lab-set ---- */

static int send_order(void *request, char **words, int n)
{
    (void)request;
    json_t *facts;
    AUTO_TEXT struct text order = {0};
    for (int i = 0; i < n; i++)
        text_addf(&order, "%s%s", i ? " " : "", words[i]);
    AUTO_FREE char *answer = NULL;
    int code = lab_facts_read(&facts);
    if (!code && !facts)
        code = fail(GS_USAGE,
                    "lab-set: not in a lab; it works only in commands that gradsync lab runs");
    if (!code)
        code = relay_order(json_text_of(facts, "control"), order.s, &answer);
    if (answer)
        puts(answer);
    json_decref(facts);
    return code;
}

int cmd_lab_set(int argc, char **argv)
{
    const struct cli cli = {
        .verb = "lab-set",
        .arguments = "ORDER",
        .summary =
            "Changes the network of the lab in which it is called: rate WHERE 100Mbit/s (or "
            "10%), loss WHERE 1%, down WHERE, up WHERE, stall WHERE, go WHERE, admit SITE PORT "
            "(none, all), disturb on or off, or reset. WHERE is a site, two sites A-B, or one "
            "direction 'A>B'. stats "
            "prints packet counts.",
        .example = "gradsync lab-set rate east 10%",
        .options = no_options,
        .min_args = 1,
        .max_args = -1};
    return cli_request(&cli, argc, argv, send_order, NULL);
}
