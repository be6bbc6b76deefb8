/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/lab.h"

#include "base/err.h"
#include "base/text.h"
#include "lab/facts.h"
#include "lab/namespaces.h"
#include "lab/site.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t init_pid;

static void pass_on(int signal)
{
    if (init_pid > 0)
        kill((pid_t)init_pid, signal);
}

/* The terminal itself sends Ctrl-C to the command. */
static void take_signals(pid_t init)
{
    static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    static const int ignored[] = {SIGINT, SIGQUIT};
    init_pid = init;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        struct sigaction now, pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
        sigaction(passed[i], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            sigaction(passed[i], &pass, NULL);
    }
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
}

static int wait_for(pid_t init)
{
    int status;
    while (waitpid(init, &status, 0) < 0)
        if (errno != EINTR)
            return fail(GS_FAILED, "lab: wait: %s", strerror(errno));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int lab_run(const struct lab_spec *s, const struct lab_options *o, char **command)
{
    AUTO(scratch_remove) struct scratch folder = {0};
    if (getenv(FACTS_VARIABLE))
        return fail(GS_USAGE, "lab: already inside a lab (" FACTS_VARIABLE " is set)");
    scratch_make(&folder);
    if (!folder.dir)
        return fail(GS_CANNOT, "lab: cannot make a folder in /dev/shm: %s", strerror(errno));
    pid_t init = namespaces_fork();
    if (init == 0)
        init_run(s, o, &folder, command);
    int code = GS_CANNOT;
    if (init > 0) {
        take_signals(init);
        code = wait_for(init);
    }
    return code;
}

int lab_enter(const char *site, char **argv)
{
    json_t *facts, *one;
    const char *names[LAB_SITES_MAX];
    size_t i, n = 0;
    long holder = 0;
    int code = facts_read(&facts);
    if (!code && !facts)
        code = fail(GS_USAGE, "lab-enter: not inside a lab; run it from a command of gradsync lab");
    if (code)
        return code;
    json_array_foreach(json_object_get(facts, "sites"), i, one)
    {
        const char *name = json_string_value(json_object_get(one, "name"));
        if (name && n < LAB_SITES_MAX)
            names[n++] = name;
        if (name && !strcmp(name, site))
            holder = (long)json_integer_value(json_object_get(one, "pid"));
    }
    const char *near = text_nearest(site, names, n);
    if (!holder)
        code = fail(GS_USAGE, "lab-enter: no site '%.64s' in this lab%s", site, DID_YOU_MEAN(near));
    if (!code)
        code = site_enter(site, holder);
    json_decref(facts);
    if (code)
        return code;
    execvp(argv[0], argv);
    int why = errno;
    fail(GS_FAILED, "lab-enter: %s: %s", argv[0], strerror(why));
    return why == ENOENT ? 127 : 126;
}
