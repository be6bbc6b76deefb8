/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses a command line by a table of options, from which it also prints the help.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_LIST, CLI_INT };

/* The value of a CLI_INT option, and its range. */
struct cli_int {
    long value, min, max;
};

struct cli_option {
    const char *name; /* long name without "--" */
    char letter;      /* 0: none */
    enum cli_kind kind;
    void *value;          /* bool *, const char **, const char *** (NULL-terminated, cli_free) or
                    struct cli_int * */
    const char *argument; /* "FILE"; NULL for a flag */
    const char *help;
};

struct cli {
    const char *verb;                 /* "plan" */
    const char *arguments;            /* "CONFIG" */
    const char *summary;              /* one line */
    const struct cli_option *options; /* ends with a NULL name; --help is added */
    int min_args, max_args;           /* positional; max -1: no limit */
    const char *example;              /* a command line; NULL: none */
};

/* Parses argv[1..] and moves the positional arguments to args[0..*n). Returns GS_OK, or GS_USAGE,
 * reported, with the nearest option. *done: --help was printed, and the verb returns GS_OK. */
int cli_parse(const struct cli *cli, int argc, char **argv, char **args, int *n, bool *done);
/* For a verb that needs no more: parses, then calls run() with the positional arguments. Returns the
 * code of either. */
int cli_words(const struct cli *cli, int argc, char **argv, int (*run)(int n, char **words));
/* The same with `request`, which holds the values of the options; frees the lists. */
int cli_request(const struct cli *cli, int argc, char **argv,
                int (*run)(void *request, char **words), void *request);
void cli_help(const struct cli *cli);
/* Prints the words from column `indent` on, in lines of 80 columns. */
void cli_put_wrapped(size_t indent, const char *s);
void cli_free(const struct cli *cli);
