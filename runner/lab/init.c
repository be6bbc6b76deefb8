/* SPDX-License-Identifier: Apache-2.0 */
#include "init.h"

#include "environment.h"
#include "err.h"
#include "facts.h"
#include "orders.h"
#include "relay.h"
#include "rooms.h"
#include "site.h"
#include "text.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct lab {
    const struct lab_spec *spec;
    const struct lab_options *options;
    const char *folder;
    char *hosts, *facts_path, *control_path;
    struct relay_devices devices[LAB_SITES_MAX];
    pid_t holders[LAB_SITES_MAX], relay, command;
    int control; /* listening */
    double rmem_B;
    json_t *facts;
};

static struct lab lab;

/* ---- the parts ---- */

static int write_hosts(const struct lab *l)
{
    FILE *f = fopen(l->hosts, "we");
    if (!f)
        return fail_at(GS_FAILED, l->hosts, 0, "cannot be written: %s", strerror(errno));
    fprintf(f, "127.0.0.1 localhost\n");
    for (size_t i = 0; i < l->spec->n; i++)
        fprintf(f, SITE_WAN_NET "%zu %s\n" SITE_CTL_NET "%zu %s.ctl\n", i + SITE_FIRST_HOST,
                l->spec->sites[i].name, i + SITE_FIRST_HOST, l->spec->sites[i].name);
    return fclose(f) ? fail_at(GS_FAILED, l->hosts, 0, "cannot be written: %s", strerror(errno))
                     : GS_OK;
}

static int listen_at(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof at) && !listen(fd, 16))
        return fd;
    fail(GS_CANNOT, "lab: %s: %s", path, strerror(errno));
    return -1;
}

/* A child that a terminal's Ctrl-C does not reach: it is meant for the command. */
static pid_t fork_part(void)
{
    pid_t pid = fork();
    if (pid < 0)
        fail(GS_CANNOT, "lab: fork: %s", strerror(errno));
    if (pid == 0)
        setsid();
    return pid;
}

static int make_sites(struct lab *l)
{
    struct site_loan loan;
    int code = GS_OK;
    site_lend_congestion(&loan, l->spec->congestion);
    for (size_t i = 0; !code && i < l->spec->n; i++) {
        code = site_make(l->spec, i, l->rmem_B, &l->devices[i]);
        if (!code && !(l->holders[i] = fork_part()))
            for (;;)
                pause();
        if (!code && l->holders[i] < 0)
            code = GS_CANNOT;
    }
    site_return_congestion(&loan);
    return code;
}

static int start_relay(struct lab *l)
{
    l->control = listen_at(l->control_path);
    if (l->control < 0)
        return GS_CANNOT;
    l->relay = fork_part();
    if (l->relay == 0)
        _exit(relay_run(l->spec, l->devices, l->control));
    close(l->control);
    for (size_t i = 0; i < l->spec->n; i++) {
        close(l->devices[i].wan);
        close(l->devices[i].ctl);
    }
    return l->relay < 0 ? GS_CANNOT : GS_OK;
}

/* ---- the command ---- */

static void run_command(const struct lab *l, char **command)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (site_enter(l->spec->sites[0].name, l->holders[0]))
        _exit(GS_CANNOT);
    environment_set(l->facts_path);
    execvp(command[0], command);
    int why = errno;
    fail(GS_USAGE, "lab: %s: %s", command[0], strerror(why));
    _exit(why == ENOENT ? 127 : 126);
}

static void pass_on(int signal)
{
    if (lab.command > 0)
        kill(lab.command, signal);
}

/* Orphans are ours, as every init's. */
static int wait_for_command(struct lab *l)
{
    for (;;) {
        int status;
        pid_t pid = wait(&status);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid == l->relay)
            return fail(GS_FAILED, "lab: the relay ended (status %d): no packet passes", status);
        if (pid == l->command || pid < 0)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

static int run_and_wait(struct lab *l, char **command)
{
    struct sigaction pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    l->command = fork();
    if (l->command == 0)
        run_command(l, command);
    if (l->command < 0)
        return fail(GS_CANNOT, "lab: fork: %s", strerror(errno));
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        sigaction(passed[i], &pass, NULL);
    return wait_for_command(l);
}

/* ---- the whole ---- */

static int make(struct lab *l)
{
    int code = write_hosts(l);
    if (!code)
        code = rooms_furnish(l->hosts);
    if (!code)
        code = make_sites(l);
    if (!code)
        code = start_relay(l);
    if (!code) {
        l->facts = facts_make(l->spec, l->rmem_B, l->holders, l->control_path);
        code = facts_write(l->facts, l->facts_path);
    }
    return code;
}

_Noreturn void init_run(const struct lab_spec *s, const struct lab_options *o, const char *folder,
                        char **command)
{
    struct lab *l = &lab;
    *l = (struct lab){.spec = s, .options = o, .folder = folder, .rmem_B = site_rmem_B(s)};
    l->hosts = xstrfmt("%s/hosts", folder);
    l->facts_path = xstrfmt("%s/lab.json", folder);
    l->control_path = xstrfmt("%s/control", folder);
    int code = make(l);
    if (!code)
        code = run_and_wait(l, command);
    fflush(NULL);
    _exit(code);
}
