/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/files.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "base/version.h"
#include "plugin/plugin.h"
#include "verbs/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *arguments, *help; /* help NULL: listed in the row above */
} verbs[] = {
#define VERB(name, run, arguments, help) {name, run, arguments, help},
    EACH_VERB(VERB)
#undef VERB
};

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < COUNT(verbs); i++)
        if (!strcmp(name, verbs[i].name))
            return &verbs[i];
    return NULL;
}

bool main_help_verb(const char *name)
{
    const struct verb *v = find_verb(name);
    return v && v->run(2, (char *[]){(char *)v->name, "--help", NULL}) == GS_OK;
}

void main_verbs(struct words *names)
{
    for (size_t i = 0; i < COUNT(verbs); i++)
        words_add(names, verbs[i].name);
}

/* Fits a screen of 24 lines and 80 columns. */
int main_help(void)
{
    printf("gradsync %s: measures gradient synchronisation. Usage: gradsync VERB ...\n",
           GRADSYNC_VERSION);
    for (size_t i = 0; i < COUNT(verbs); i++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", verbs[i].name, verbs[i].arguments);
        printf("  %-22s %s", left, verbs[i].help);
        for (; i + 1 < COUNT(verbs) && !verbs[i + 1].help; i++)
            printf(" %s", verbs[i + 1].name);
        putchar('\n');
    }
    printf("Example: gradsync plan local; gradsync run local; gradsync show\n"
           "'gradsync help VERB' lists options; 'help PLUGIN' and 'help config' list keys.\n"
           "--plugins DIR, with any verb: find plugins there too.\n"
           "Exit: 0 done; 1 something measured failed; 2 usage or config; 3 cannot run here.\n");
    return GS_OK;
}

static int unknown_verb(const char *word, const char *next)
{
    const char *near = NEAREST(word, verbs, COUNT(verbs), name);
    if (!near && next && find_verb(next))
        return fail(GS_USAGE, "no verb '%s'; the verb comes first: gradsync %s %s", word, next,
                    SHELL_WORD(word));
    return fail(GS_USAGE, "no verb '%s'; 'gradsync help' lists them%s", word, DID_YOU_MEAN(near));
}

/* Takes "--plugins DIR" out of the words before "--"; ranks find the folder by the environment. */
static int take_plugins(int *argc, char **argv)
{
    static const char option[] = "--plugins";
    for (int i = 1; i < *argc && strcmp(argv[i], "--"); i++) {
        if (strncmp(argv[i], option, strlen(option)) || !strchr("=", argv[i][strlen(option)]))
            continue;
        bool attached = argv[i][strlen(option)] == '=';
        const char *dir = attached ? argv[i] + strlen(option) + 1 : argv[i + 1];
        AUTO_FREE char *real = dir ? realpath(dir, NULL) : NULL;
        if (!dir)
            return fail(GS_USAGE, "--plugins needs DIR, a folder with plugins");
        if (!real || !files_is_folder(real))
            return fail(GS_USAGE, "--plugins: %s: is not a folder", dir);
        const char *others = getenv("GRADSYNC_PLUGIN_PATH");
        AUTO_FREE char *path = xstrfmt("%s%s%s", real, others ? ":" : "", others ? others : "");
        setenv("GRADSYNC_PLUGIN_PATH", path, 1);
        int used = attached ? 1 : 2;
        for (int k = i; k + used <= *argc; k++)
            argv[k] = argv[k + used];
        *argc -= used;
        i--;
    }
    return GS_OK;
}

static int run_verb(int argc, char **argv)
{
    int code = take_plugins(&argc, argv);
    if (code)
        return code;
    plugin_try_first();
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return main_help();
    if (!strcmp(argv[1], "--version")) {
        printf("gradsync %s (%s)\n", GRADSYNC_VERSION, gradsync_commit);
        return GS_OK;
    }
    const struct verb *v = find_verb(argv[1]);
    return v ? v->run(argc - 1, argv + 1) : unknown_verb(argv[1], argv[2]);
}

int main(int argc, char **argv)
{
    /* If the parent ignores SIGCHLD, waitpid would not return exit codes. */
    signal(SIGCHLD, SIG_DFL);
    /* No setlocale: numbers keep the C format in every locale. */
    int code = run_verb(argc, argv);
    bool lost_now = fflush(stdout) != 0;
    if (!lost_now && !ferror(stdout))
        return code;
    /* The reason of an earlier loss is gone. */
    int lost = fail(GS_FAILED, "standard output cannot be written: %s",
                    lost_now ? strerror(errno) : "a part of it is lost");
    return code ? code : lost;
}
