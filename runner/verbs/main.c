/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/text.h"
#include "base/version.h"
#include "verbs/commands.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *arguments, *help; /* help NULL: listed in the row above */
};

/* clang-format off */
static const struct verb verbs[] = {
    {"plan", cmd_plan, "CONFIG", "list cells, memory and time; measure nothing"},
    {"run", cmd_run, "CONFIG... | RUN", "measure configs, or the rest of a run; see also"},
    {"resume", cmd_resume, "RUN | CAMPAIGN", NULL},
    {"submit", cmd_submit, "CONFIG...", "measure in Slurm jobs; see also"},
    {"status", cmd_status, "[CAMPAIGN]", NULL},
    {"cancel", cmd_cancel, "CAMPAIGN", NULL},
    {"collect", cmd_collect, "CAMPAIGN", NULL},
    {"show", cmd_show, "[RUN]", "print a table and a curve of a run"},
    {"report", cmd_report, "[PLATFORM...]", "write one HTML page of figures, tables, verdicts"},
    {"reduce", cmd_reduce, "RAW -o CSV", "turn recordings into samples.csv, summary.csv, ..."},
    {"import", cmd_import, "FILE...", "turn output of nccl-tests and others into recordings"},
    {"compare", cmd_compare, "[RAW | A B]", "print verdicts: config against baseline, B against A"},
    {"advise", cmd_advise, "[PLATFORM]", "say which NCCL setting shortens a step; see also"},
    {"prove", cmd_prove, "PLATFORM", NULL},
    {"transitions", cmd_transitions, "[CSV]", "find switches, kinks, knees, dips, spikes in curves"},
    {"limits", cmd_limits, "CONFIG...", "check measured and published numbers against physics"},
    {"why", cmd_why, "[NUMBER]", "trace a number of the paper to its recording"},
    {"check", cmd_check, "FILE...", "report every fault in a config, plugin or recording"},
    {"fabric", cmd_fabric, "", "show network ports, GPUs, NCCL settings; see also"},
    {"list", cmd_list, "", NULL},
    {"suspects", cmd_suspects, "[CONFIG]", "find the slow GPU, link or host of a machine"},
    {"trial", cmd_trial, "-- COMMAND", "compare settings in your training job; see also"},
    {"train", cmd_train, "CONFIG", NULL},
    {"model", cmd_model, "CONFIG", "compute a training between sites; see also"},
    {"links", cmd_links, "CONFIG", NULL},
    {"watch", cmd_watch, "FILE|-", "follow a training log; report low rates and faults"},
    {"lab", cmd_lab, "CONFIG -- COMMAND", "emulate several sites here; see also"},
    {"lab-enter", cmd_lab_enter, "SITE COMMAND", NULL},
    {"lab-set", cmd_lab_set, "ORDER", NULL},
    {"help", cmd_help, "[WORD]", "describe a verb, plugin, config section or key"},
};
/* clang-format on */
#define VERBS (sizeof verbs / sizeof *verbs)

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERBS; i++)
        if (!strcmp(name, verbs[i].name))
            return &verbs[i];
    return NULL;
}

bool main_help_verb(const char *name)
{
    const struct verb *v = find_verb(name);
    return v && v->run(2, (char *[]){(char *)v->name, "--help", NULL}) == GS_OK;
}

const char *main_verb(size_t i)
{
    return i < VERBS ? verbs[i].name : NULL;
}

/* Fits a screen of 24 lines and 80 columns. */
int main_help(void)
{
    printf("gradsync %s: measures gradient synchronisation. Usage: gradsync VERB ...\n",
           GRADSYNC_VERSION);
    for (size_t i = 0; i < VERBS; i++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", verbs[i].name, verbs[i].arguments);
        printf("  %-22s %s", left, verbs[i].help);
        for (; i + 1 < VERBS && !verbs[i + 1].help; i++)
            printf(" %s", verbs[i + 1].name);
        putchar('\n');
    }
    printf("Example: gradsync plan local; gradsync run local; gradsync show\n"
           "'gradsync help VERB' lists options; 'help PLUGIN' and 'help config' list keys.\n"
           "Exit: 0 done; 1 something measured failed; 2 usage or config; 3 cannot run here.\n");
    return GS_OK;
}

static int unknown_verb(const char *word)
{
    const char *names[VERBS];
    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i].name;
    const char *near = text_nearest(word, names, VERBS);
    return fail(GS_USAGE, "no verb '%s'; 'gradsync help' lists them%s", word, DID_YOU_MEAN(near));
}

int main(int argc, char **argv)
{
    /* If the parent ignores SIGCHLD, waitpid would not return exit codes. */
    signal(SIGCHLD, SIG_DFL);
    /* No setlocale: numbers keep the C format in every locale. */
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return main_help();
    if (!strcmp(argv[1], "--version")) {
        printf("gradsync %s (%s)\n", GRADSYNC_VERSION, gradsync_commit);
        return GS_OK;
    }
    const struct verb *v = find_verb(argv[1]);
    return v ? v->run(argc - 1, argv + 1) : unknown_verb(argv[1]);
}
