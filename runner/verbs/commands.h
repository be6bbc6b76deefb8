/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs. Each has a function in its own file, cmd_VERB.c, and a row in the table of main.c. Its
 * table of options also gives its help (cli.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

int cmd_plan(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_resume(int argc, char **argv);
int cmd_submit(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_cancel(int argc, char **argv);
int cmd_collect(int argc, char **argv);
int cmd_reduce(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_advise(int argc, char **argv);
int cmd_prove(int argc, char **argv);
int cmd_transitions(int argc, char **argv);
int cmd_limits(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_model(int argc, char **argv);
int cmd_links(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_trial(int argc, char **argv);
int cmd_train(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_lab_enter(int argc, char **argv);
int cmd_lab_set(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_help(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_fabric(int argc, char **argv);

int main_help(void);                   /* prints the verbs, one per line */
bool main_help_verb(const char *name); /* prints VERB --help; false if there is no such verb */
const char *main_verb(size_t i);       /* name of verb i; NULL after the last */
