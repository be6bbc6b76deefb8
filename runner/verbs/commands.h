/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs. Each has a function cmd_VERB and a row in this table; a file holds the verbs that belong
 * together. Its table of options also gives its help (cli.h).
 */
#pragma once

#include <stdbool.h>

/* The verbs in the order of `gradsync help`; without help, a verb is listed in the row above. */
/* clang-format off */
#define EACH_VERB(X) \
    X("tune", cmd_tune, "-- COMMAND", "show what communication costs, and what gets it back") \
    X("plan", cmd_plan, "CONFIG", "list cells, memory and time; measure nothing") \
    X("run", cmd_run, "CONFIG", "measure a config; see also") \
    X("resume", cmd_resume, "RUN", NULL) \
    X("submit", cmd_submit, "CONFIG...", "measure in Slurm jobs; see also") \
    X("status", cmd_status, "[CAMPAIGN]", NULL) \
    X("show", cmd_show, "[RUN]", "print a table of a run") \
    X("report", cmd_report, "[PLATFORM...]", "write one HTML page of figures, tables, verdicts") \
    X("query", cmd_query, "SELECT... [RAW]", "answer a SQL query, or write the CSV tables") \
    X("import", cmd_import, "FILE...", "turn output of nccl-tests and others into recordings") \
    X("compare", cmd_compare, "[RAW | A B]", "print verdicts: config against baseline, B against A") \
    X("check", cmd_check, "FILE...", "report every fault in a config, plugin or recording") \
    X("model", cmd_model, "CONFIG", "compute a training between sites; see also") \
    X("links", cmd_links, "CONFIG", NULL) \
    X("watch", cmd_watch, "FILE|-", "follow a training log; report low rates and faults") \
    X("lab", cmd_lab, "CONFIG -- COMMAND", "emulate several sites on this machine") \
    X("help", cmd_help, "[WORD]", "describe a verb, plugin or config section")
/* clang-format on */

#define VERB(name, run, arguments, help) int run(int argc, char **argv);
EACH_VERB(VERB)
#undef VERB

/* Prints the names of a kind, one a line: plugins (with version and summary), verbs, configs, runs,
 * measured (platforms with a recording), recordings (run folders below data/raw). *known: it is a kind. GS_OK or reported. */
int names_print(const char *kind, bool *known);
/* `check --machine`: the network ports and GPUs of this machine, and the NCCL settings that gradsync
 * would choose. root: reads ROOT/sys and ROOT/proc; NULL: / */
int machine_check(const char *root);
