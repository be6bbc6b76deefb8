/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses a command line by a table of options, from which it also prints the help.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_LIST, CLI_INT, CLI_QUIET };

/* The value of a CLI_INT option, and its range. */
struct cli_int {
    long value, min, max;
};

struct cli_option {
    const char *name; /* long name without "--" */
    char letter;      /* 0: none */
    enum cli_kind kind;
    /* bool *, const char **, const char *** (NULL-terminated; cli_free) or struct cli_int *. NULL for
     * CLI_QUIET, which calls say_quiet. */
    void *value;
    const char *argument; /* "FILE"; NULL for a flag */
    const char *help;
};

/* Rows that many verbs have. */
#define CLI_QUIET_ROW                                                                              \
    {                                                                                              \
        "quiet", 'q', CLI_QUIET, NULL, NULL, "print errors only"                                   \
    }
#define CLI_SET_ROW(list)                                                                          \
    {                                                                                              \
        "set", 's', CLI_LIST, list, "SECTION:KEY=VALUE",                                           \
            "override a key of the config; may be repeated"                                        \
    }

struct cli {
    const char *verb;                 /* "plan"; cli_request takes it from argv[0] */
    const char *arguments;            /* "CONFIG" */
    const char *summary;              /* one line */
    const struct cli_option *options; /* ends with a NULL name; --help is added */
    int args[2];                      /* least and most positional ones; most -1: no limit */
    const char *example;              /* a command line; NULL: none */
};

/* Parses, then calls run() with `request`, which holds the values of the options, and the positional
 * arguments, n and a NULL; frees the lists. Returns the code of either. */
int cli_request(const struct cli *cli, int argc, char **argv,
                int (*run)(void *request, char **words, int n), void *request);
/* Prints the words from column `indent` on, in lines of 80 columns. */
void cli_put_wrapped(size_t indent, const char *s);
