/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lines by table: an option is a row, the help is printed from the rows.
 */
#ifndef GS_CLI_H
#define GS_CLI_H

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
    void *value; /* bool *, const char **, const char *** (NULL-terminated, cli_free), struct
                    cli_int * */
    const char *argument; /* "FILE"; NULL for a flag */
    const char *help;
};

struct cli {
    const char *verb;                 /* "plan" */
    const char *arguments;            /* "CONFIG" */
    const char *summary;              /* one line */
    const struct cli_option *options; /* ends with a NULL name; --help is added */
    int min_args, max_args;           /* positional; max -1: any number */
    const char *example;              /* a command line; NULL: none */
};

/* Parses argv[1..]; positionals are moved to args[0..*n). Returns GS_OK, or GS_USAGE after one line
 * of error that names the nearest option; *done is true when --help was printed and the verb should
 * return GS_OK. */
int cli_parse(const struct cli *cli, int argc, char **argv, char **args, int *n, bool *done);
/* Of a verb without options: parses, and gives the words to run(). Its code, or cli_parse's. */
int cli_words(const struct cli *cli, int argc, char **argv, int (*run)(int n, char **words));
void cli_help(const struct cli *cli);
/* Words from column `indent` on, in lines of 80 columns, to stdout. */
void cli_put_wrapped(size_t indent, const char *s);
void cli_free(const struct cli *cli);

#endif
