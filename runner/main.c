/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "err.h"
#include "text.h"
#include "version.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *arguments, *help;
};

static const struct verb verbs[] = {
    {"plan", cmd_plan, "CONFIG",
     "the cells a config asks for, their memory and time; runs nothing"},
    {"run", cmd_run, "CONFIG... | RUN", "measure; a run folder is completed"},
    {"resume", cmd_resume, "RUN | CAMPAIGN", "measure what is missing, by the same plan"},
    {"submit", cmd_submit, "CONFIG...", "measure what configs ask for in Slurm jobs: a campaign"},
    {"status", cmd_status, "CAMPAIGN", "what it has measured, what runs, what failed and why"},
    {"cancel", cmd_cancel, "CAMPAIGN", "end its jobs; what was measured is kept"},
    {"collect", cmd_collect, "CAMPAIGN", "its results, verified, to data/raw"},
    {"show", cmd_show, "[RUN]", "a table of the results in the terminal"},
    {"reduce", cmd_reduce, "RAW -o CSV", "recordings to samples.csv and summary.csv"},
    {"import", cmd_import, "FILE...", "output of nccl-tests and others to recordings"},
    {"compare", cmd_compare, "[RAW | A B]",
     "verdicts: configs against their baseline, or B against A"},
    {"transitions", cmd_transitions, "[CSV]",
     "knees, protocol switches, dips and spikes in every curve"},
    {"limits", cmd_limits, "CONFIG...", "measured and published numbers against physical limits"},
    {"check", cmd_check, "FILE...",
     "a config, a plugin .so or a recording: everything that is wrong with it"},
    {"fabric", cmd_fabric, "", "what joins this machine to others, and what NCCL would be told"},
    {"list", cmd_list, "", "the workload plugins and configs found here"},
    {"model", cmd_model, "CONFIG", "what a training between sites gives, and what it would need"},
    {"watch", cmd_watch, "FILE|-",
     "follow a training log: its rate against the model, and trouble"},
    {"help", cmd_help, "[VERB | PLUGIN]", "this text, a verb's options, a plugin's parameters"},
};

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(name, verbs[i].name))
            return &verbs[i];
    return NULL;
}

bool main_help_verb(const char *name)
{
    const struct verb *v = find_verb(name);
    return v && v->run(2, (char *[]){(char *)v->name, "--help", NULL}) == GS_OK;
}

int main_help(void)
{
    printf("gradsync %s: measures gradient synchronisation\n\nusage: gradsync VERB …\n\n",
           GRADSYNC_VERSION);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", verbs[i].name, verbs[i].arguments);
        printf("  %-22s %s\n", left, verbs[i].help);
    }
    printf(
        "\n'gradsync VERB --help' lists a verb's options, 'gradsync help PLUGIN' a plugin's "
        "parameters.\n"
        "Start with: gradsync plan configs/local.ini, then gradsync run configs/local.ini.\n"
        "Exit codes: 0 done; 1 something measured failed; 2 usage or config; 3 cannot run here.\n");
    return GS_OK;
}

static int unknown_verb(const char *word)
{
    const char *names[32];
    size_t n = 0;
    for (; n < sizeof verbs / sizeof *verbs; n++)
        names[n] = verbs[n].name;
    const char *near = text_nearest(word, names, n);
    return fail(GS_USAGE, "no verb '%s'%s%s%s; 'gradsync help' lists them", word,
                near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int main(int argc, char **argv)
{
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
