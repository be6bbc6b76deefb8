/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"

#include "base/err.h"
#include "base/term.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 80
#define OPTION_INDENT 29

static const struct cli_option *find(const struct cli *cli, const char *name, size_t n, char letter)
{
    for (const struct cli_option *o = cli->options; o->name; o++)
        if (name ? strlen(o->name) == n && !memcmp(o->name, name, n)
                 : o->letter && o->letter == letter)
            return o;
    return NULL;
}

static void cli_help(const struct cli *c);

static int unknown(const struct cli *cli, const char *argument)
{
    const char *names[32];
    size_t n = 0;
    for (const struct cli_option *o = cli->options; o->name && n < 31; o++)
        names[n++] = o->name;
    names[n++] = "help";
    const char *near = text_nearest(argument + strspn(argument, "-"), names, n);
    return fail(GS_USAGE, "%s: no option '%s'%s; 'gradsync %s --help' lists them", cli->verb,
                argument, DID_YOU_MEAN_IN("'--", near, "'"), cli->verb);
}

static int take(const struct cli *cli, const struct cli_option *o, const char *value)
{
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)o->value = true;
        break;
    case CLI_TEXT:
        *(const char **)o->value = value;
        break;
    case CLI_LIST: {
        const char ***list = o->value;
        size_t n = 0;
        while (*list && (*list)[n])
            n++;
        *list = xrealloc(*list, (n + 2) * sizeof **list);
        (*list)[n] = value;
        (*list)[n + 1] = NULL;
        break;
    }
    case CLI_INT: {
        struct cli_int *i = o->value;
        long long number;
        const char *end;
        if (!text_integer(value, i->min, i->max, &number, &end) || *end)
            return fail(GS_USAGE, "%s: --%s: '%s' is not an integer from %ld to %ld", cli->verb,
                        o->name, value, i->min, i->max);
        i->value = (long)number;
        break;
    }
    case CLI_QUIET:
        say_quiet(1);
        if (o->value)
            *(bool *)o->value = true;
        break;
    }
    return GS_OK;
}

/* One option at argv[*i], its value attached ("--x=v", "-xv") or in the next word. */
static int option(const struct cli *cli, int argc, char **argv, int *i, bool *done)
{
    char *arg = argv[*i];
    bool is_long = arg[1] == '-';
    size_t n = is_long ? strcspn(arg + 2, "=") : 1;
    if ((is_long && n == 4 && !strncmp(arg + 2, "help", 4)) || !strcmp(arg, "-h")) {
        cli_help(cli);
        *done = true;
        return GS_OK;
    }
    const struct cli_option *o = is_long ? find(cli, arg + 2, n, 0) : find(cli, NULL, 0, arg[1]);
    if (!o)
        return unknown(cli, arg);
    const char *attached = is_long ? (arg[2 + n] ? arg + 3 + n : NULL) : (arg[2] ? arg + 2 : NULL);
    if (o->kind == CLI_FLAG || o->kind == CLI_QUIET)
        return attached ? fail(GS_USAGE, "%s: --%s takes no value", cli->verb, o->name)
                        : take(cli, o, NULL);
    if (!attached && (*i + 1 >= argc || !strcmp(argv[*i + 1], "--")))
        return fail(GS_USAGE, "%s: --%s needs %s", cli->verb, o->name, o->argument);
    return take(cli, o, attached ? attached : argv[++*i]);
}

/* Parses argv[1..] and moves the positional arguments to args[0..*n). GS_OK, or GS_USAGE, reported, with
 * the nearest option. *done: --help was printed. */
static int cli_parse(const struct cli *cli, int argc, char **argv, char **args, int *n, bool *done)
{
    *n = 0;
    *done = false;
    bool only_args = false;
    for (int i = 1; i < argc; i++) {
        if (!only_args && !strcmp(argv[i], "--")) {
            only_args = true;
        } else if (!argv[i][0] && !only_args) {
            return fail(GS_USAGE, "%s: argument %d is empty: is a shell variable unset?", cli->verb,
                        i);
        } else if (!only_args && argv[i][0] != '-' && !strncmp(cli->arguments, "-- ", 3)) {
            return fail(GS_USAGE, "%s: put '--' before the command: gradsync %s -- %s ...",
                        cli->verb, cli->verb, argv[i]); /* else its options would be ours */
        } else if (only_args || argv[i][0] != '-' || !argv[i][1]) {
            args[(*n)++] = argv[i];
        } else {
            int code = option(cli, argc, argv, &i, done);
            if (code || *done)
                return code;
        }
    }
    if (*n < cli->args[0] || (cli->args[1] >= 0 && *n > cli->args[1]))
        return fail(GS_USAGE, "usage: gradsync %s [options]%s%s; 'gradsync %s --help' says more",
                    cli->verb, *cli->arguments ? " " : "", cli->arguments, cli->verb);
    return GS_OK;
}

void cli_put_wrapped(size_t indent, const char *s)
{
    printf("%*s", (int)indent, "");
    screen_wrap(indent, indent, WIDTH, s);
}

static void cli_help(const struct cli *cli)
{
    printf("gradsync %s [options]%s%s\n", cli->verb, *cli->arguments ? " " : "", cli->arguments);
    cli_put_wrapped(2, cli->summary);
    AUTO_FREE char *example = cli->example ? err_as_called(cli->example) : NULL;
    if (example)
        printf("\nexample\n  %s\n", example);
    if (cli->options->name)
        printf("\noptions\n");
    for (const struct cli_option *o = cli->options; o->name; o++) {
        char left[64], letter[5] = "    ";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        int at = printf("  %-26s ", left);
        screen_wrap((size_t)at, OPTION_INDENT, WIDTH, o->help);
    }
}

int cli_request(const struct cli *cli, int argc, char **argv,
                int (*run)(void *request, char **words, int n), void *request)
{
    AUTO_FREE char **words = xcalloc((size_t)argc + 1, sizeof *words);
    struct cli named = *cli;
    named.verb = argv[0];
    bool done;
    int n, code = cli_parse(&named, argc, argv, words, &n, &done);
    if (!code && !done)
        code = run(request, words, n);
    for (const struct cli_option *o = cli->options; o->name; o++)
        if (o->kind == CLI_LIST) {
            free(*(const char ***)o->value);
            *(const char ***)o->value = NULL;
        }
    return code;
}
