/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/client.h"

#include "base/clock.h"
#include "base/err.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Slurm's programs give up after 9 s without a controller; this catches one that hangs. */
#define PATIENCE_NS 120000000000u
#define NOT_FOUND 127

/* Variables of the user's shell or of a surrounding job that would change what Slurm's programs do. */
static const char *const scrubbed[] = {"SBATCH_", "SLURM_",   "SALLOC_",  "SQUEUE_",
                                       "SRUN_",   "SCANCEL_", "SCONTROL_"};

static bool is_scrubbed(const char *variable)
{
    if (!strncmp(variable, "SLURM_CONF=", 11))
        return false;
    for (size_t i = 0; i < sizeof scrubbed / sizeof *scrubbed; i++)
        if (!strncmp(variable, scrubbed[i], strlen(scrubbed[i])))
            return true;
    return false;
}

static char cluster[WL_TEXT_MAX + sizeof "SLURM_CLUSTERS="];

void client_cluster(const char *name)
{
    *cluster = '\0';
    if (*name)
        snprintf(cluster, sizeof cluster, "SLURM_CLUSTERS=%s", name);
}

static char **environment(void)
{
    static char lc_all[] = "LC_ALL=C";
    size_t n = 0, k = 0;
    while (environ[n])
        n++;
    char **env = xcalloc(n + 3, sizeof *env);
    for (size_t i = 0; i < n; i++)
        if (!is_scrubbed(environ[i]) && strncmp(environ[i], "LC_ALL=", 7))
            env[k++] = environ[i];
    env[k++] = lc_all;
    if (*cluster)
        env[k] = cluster;
    return env;
}

static void become(const char *const *argv, char **env, int out, int err)
{
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execvpe(argv[0], (char *const *)argv, env);
    _exit(NOT_FOUND);
}

/* Reads until both pipes are closed. False: the deadline passed. */
static bool read_all(struct pollfd fds[2], struct reply *r)
{
    struct text *const texts[2] = {&r->out, &r->err};
    const uint64_t end = clock_now_ns() + PATIENCE_NS;
    char buf[65536];
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (clock_now_ns() > end)
            return false;
        poll(fds, 2, 1000);
        for (int i = 0; i < 2; i++) {
            if (!fds[i].revents)
                continue;
            ssize_t n = read(fds[i].fd, buf, sizeof buf);
            if (n > 0)
                text_addn(texts[i], buf, (size_t)n);
            else if (n == 0 || errno != EINTR)
                fds[i].fd = -1;
        }
    }
    return true;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(struct reply *r, const char *const *argv)
{
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC))
        return fail(GS_FAILED, "%s cannot be started: %s", argv[0], strerror(errno));
    if (pipe2(err, O_CLOEXEC)) {
        int why = errno;
        close(out[0]);
        close(out[1]);
        return fail(GS_FAILED, "%s cannot be started: %s", argv[0], strerror(why));
    }
    AUTO_FREE char **env = environment();
    pid_t pid = fork();
    int why = errno;
    if (pid == 0)
        become(argv, env, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    struct pollfd fds[2] = {{.fd = out[0], .events = POLLIN}, {.fd = err[0], .events = POLLIN}};
    if (pid > 0 && !read_all(fds, r))
        kill(pid, SIGKILL);
    close(out[0]);
    close(err[0]);
    if (pid < 0)
        return fail(GS_FAILED, "%s cannot be started: %s", argv[0], strerror(why));
    r->status = wait_for(pid);
    return GS_OK;
}

/* ---- errors ---- */

static const char *after(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    return at ? at + strlen(word) : line;
}

/* scontrol prints some errors on stdout. */
static const char *reply_said(const struct reply *r)
{
    return r->err.len ? r->err.s : r->out.len ? r->out.s : "";
}

/* First line of its error output, without the program name. */
static char *reply_why(const struct reply *r)
{
    const char *s = reply_said(r);
    s = after(s, ": error: ");
    s += strspn(s, " \n");
    return *s ? xstrfmt("%.*s", (int)strcspn(s, "\n"), s) : xstrfmt("exit %d", r->status);
}

/* Common errors: part of Slurm's message, the remedy, and the exit code. */
static const struct {
    const char *says, *remedy;
    int code;
} faults[] = {
    {"Unable to contact slurm controller",
     "the controller does not answer; nothing is lost, try again later; see scontrol ping",
     GS_CANNOT},
    {"Invalid account",
     "[slurm] account is not one of yours for this partition; see sacctmgr show associations "
     "user=$USER",
     GS_USAGE},
    {"invalid partition", "[slurm] partition does not exist; sinfo -s lists them", GS_USAGE},
    {"not found", "[slurm] partition does not exist; sinfo -s lists them", GS_USAGE},
    {"Invalid qos", "[slurm] qos is not one of yours; see sacctmgr show qos", GS_USAGE},
    {"Invalid feature",
     "[slurm] constraint names no feature of the nodes; sinfo -o '%f' lists them", GS_USAGE},
    {"Requested node configuration is not available",
     "no node has enough processors, GPUs or memory; see sinfo -o '%P %c %m %G' and change [slurm]",
     GS_USAGE},
    {"Requested partition configuration not available",
     "the partition has too few processors or nodes; see sinfo -o '%P %D %c', then change [launch] "
     "ranks and nodes",
     GS_USAGE},
    {"unrecognized option",
     "a [slurm] sbatch.NAME is not an option of this sbatch; see sbatch --help", GS_USAGE},
    {"Invalid node name", "[slurm] names an unknown node; sinfo -N lists them", GS_USAGE},
    {"Invalid license", "[slurm] names an unknown licence; scontrol show lic lists them", GS_USAGE},
    {"reservation is invalid",
     "[slurm] names a reservation that is not yours; see scontrol show res", GS_USAGE},
    {"Invalid generic resource", "no node has this [slurm] gres; see sinfo -o '%G'", GS_USAGE},
    {"more processors", "more ranks per node than processors; use fewer ranks or more nodes",
     GS_USAGE},
    {"violates", "one of your limits is reached; see squeue --me and sacctmgr show assoc",
     GS_CANNOT},
    {"resolve_ctls_from_dns",
     "this machine belongs to no cluster; to measure without Slurm: gradsync run", GS_CANNOT},
    {"configuration source",
     "this machine belongs to no cluster; to measure without Slurm: gradsync run", GS_CANNOT},
    {"resolve host", "SLURM_CONF names an unknown controller; check the file", GS_CANNOT},
    {"munge", "munged does not run here or has another key; ask the administrators", GS_CANNOT},
};

static int report(const struct reply *r, const char *program, const char *purpose)
{
    AUTO_FREE char *why = reply_why(r);
    const char *remedy = NULL;
    int code = GS_FAILED;
    for (size_t i = 0; i < sizeof faults / sizeof *faults && !remedy; i++)
        if (strcasestr(reply_said(r), faults[i].says)) {
            remedy = faults[i].remedy;
            code = faults[i].code;
        }
    fail((enum gs_exit)code, "%s: %s: %s%s%s%s", purpose, program, why, remedy ? " (" : "",
         remedy ? remedy : "", remedy ? ")" : "");
    return code;
}

static int client_try(struct reply *r, const char *const *argv, const char *purpose)
{
    *r = (struct reply){0};
    int code = run(r, argv);
    if (code)
        return code;
    if (r->status == NOT_FOUND && !r->err.len)
        return fail(GS_CANNOT,
                    "%s: no %s in PATH: this is not a login node of a Slurm cluster; to measure "
                    "without Slurm: gradsync run",
                    purpose, argv[0]);
    return GS_OK;
}

int client_run(struct reply *r, const char *const *argv, const char *purpose)
{
    int code = client_try(r, argv, purpose);
    return code || !r->status ? code : report(r, argv[0], purpose);
}

void reply_free(struct reply *r)
{
    text_free(&r->out);
    text_free(&r->err);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool only(const char *s, const char *allowed)
{
    return *s && s[strspn(s, allowed)] == '\0';
}

bool sbatch_words_value(const char *s)
{
    return only(s, LETTERS DIGITS "_.,:=+@/-[]()*&|!?");
}

bool sbatch_words_option(const char *s)
{
    return only(s, "abcdefghijklmnopqrstuvwxyz" DIGITS "-") && *s != '-';
}

bool sbatch_words_module(const char *s)
{
    return only(s, LETTERS DIGITS "_.+/-") && *s != '-';
}

bool sbatch_words_line(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

bool sbatch_words_path(const char *s)
{
    return sbatch_words_line(s) && !strpbrk(s, "%\\");
}
