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
    const char *arguments, *help; /* NULL: one of the verbs that the row above stands for */
};

/* clang-format off */
static const struct verb verbs[] = {
    {"plan", cmd_plan, "CONFIG", "the cells that it asks for, memory, time; runs nothing"},
    {"run", cmd_run, "CONFIG... | RUN", "measure; a run folder is completed"},
    {"resume", cmd_resume, "RUN | CAMPAIGN", "measure what is missing, by the same plan"},
    {"submit", cmd_submit, "CONFIG...", "measure in Slurm jobs; then"},
    {"status", cmd_status, "CAMPAIGN", NULL},
    {"cancel", cmd_cancel, "CAMPAIGN", NULL},
    {"collect", cmd_collect, "CAMPAIGN", NULL},
    {"show", cmd_show, "[RUN]", "a table and a curve of the results, here"},
    {"report", cmd_report, "[PLATFORM...]", "one HTML page of figures, tables, verdicts"},
    {"reduce", cmd_reduce, "RAW -o CSV", "recordings to samples.csv, summary.csv, ..."},
    {"import", cmd_import, "FILE...", "output of nccl-tests and others to recordings"},
    {"compare", cmd_compare, "[RAW | A B]", "verdicts: config against baseline, B against A"},
    {"transitions", cmd_transitions, "[CSV]", "switches, kinks, knees, dips, spikes in curves"},
    {"limits", cmd_limits, "CONFIG...", "measured and published numbers against physics"},
    {"why", cmd_why, "[NUMBER]", "a number of the paper and the lines it was measured in"},
    {"check", cmd_check, "FILE...", "all that is wrong with a config, plugin, recording"},
    {"fabric", cmd_fabric, "", "what joins this machine to others, and NCCL's view"},
    {"list", cmd_list, "", "the workload plugins and configs found here"},
    {"trial", cmd_trial, "-- COMMAND", "compare NCCL settings inside a training job"},
    {"model", cmd_model, "CONFIG", "what a training between sites gives, and needs"},
    {"watch", cmd_watch, "FILE|-", "follow a training log: its rate, and trouble"},
    {"lab", cmd_lab, "CONFIG -- COMMAND", "several sites here, by a relay; there"},
    {"lab-enter", cmd_lab_enter, "SITE COMMAND", NULL},
    {"lab-set", cmd_lab_set, "ORDER", NULL},
    {"help", cmd_help, "[WORD]", "of a verb, a plugin, a section or key of configs"},
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

/* 24 lines of 80 columns: a screen. */
int main_help(void)
{
    printf("gradsync %s: measures gradient synchronisation. usage: gradsync VERB ...\n",
           GRADSYNC_VERSION);
    for (size_t i = 0; i < VERBS; i++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", verbs[i].name, verbs[i].arguments);
        printf("  %-22s %s", left, verbs[i].help);
        for (; i + 1 < VERBS && !verbs[i + 1].help; i++)
            printf(" %s", verbs[i + 1].name);
        putchar('\n');
    }
    printf("Begin with: gradsync plan local, then gradsync run local, then gradsync show.\n"
           "'gradsync help VERB' lists its options, 'help PLUGIN' and 'help measure' keys.\n"
           "Exit: 0 done; 1 something measured failed; 2 usage or config; 3 cannot run here.\n");
    return GS_OK;
}

static int unknown_verb(const char *word)
{
    const char *names[VERBS];
    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i].name;
    const char *near = text_nearest(word, names, VERBS);
    return fail(GS_USAGE, "no verb '%s'%s; 'gradsync help' lists them", word, DID_YOU_MEAN(near));
}

int main(int argc, char **argv)
{
    /* What started us may ignore it; then no exit code of a child could be learnt. */
    signal(SIGCHLD, SIG_DFL);
    /* Numbers are read and written as in C whatever the user's locale: setlocale is not called. */
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return main_help();
    if (!strcmp(argv[1], "--version")) {
        printf("gradsync %s (%s)\n", GRADSYNC_VERSION, gradsync_commit);
        return GS_OK;
    }
    const struct verb *v = find_verb(argv[1]);
    return v ? v->run(argc - 1, argv + 1) : unknown_verb(argv[1]);
}
