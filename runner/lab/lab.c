/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/lab.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "lab/probe.h"
#include "lab/relay.h"
#include "lab/site.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the environment of the command ----
 *
 * With these variables mpirun reaches every site, and messages
 * use the emulated links. Variables that the user has set stay, except the remote shell.
 */

static const struct {
    const char *name, *value;
} defaults[] = {
    {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"}, {"OMPI_MCA_pml", "ob1"},
    {"OMPI_MCA_btl", "tcp,self,vader"}, /* vader: between ranks of one site alone */
    {"OMPI_MCA_btl_tcp_if_include", "wan0"}, {"OMPI_MCA_oob_tcp_if_include", "ctl0"},
    {"OMPI_MCA_mpi_yield_when_idle", "1"}, /* all sites share the processors of one machine */
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"},       /* who is not is so inside */
    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}, {"NCCL_SOCKET_IFNAME", "wan0"},
    {"GLOO_SOCKET_IFNAME", "wan0"},
};

/* `folder`: for temporary files of MPI, and a link to this program whose path has no spaces. */
static void set_environment(const char *facts_path, const char *folder)
{
    /* mpirun splits its agent at spaces, which this program's folder may have. */
    AUTO_FREE char *program = xstrfmt("%s/gradsync", program_dir()),
                   *link = xstrfmt("%s/gradsync", folder);
    AUTO_FREE char *agent = xstrfmt("%s lab enter", symlink(program, link) ? program : link);
    for (size_t i = 0; i < COUNT(defaults); i++)
        setenv(defaults[i].name, defaults[i].value, 0);
    setenv("OMPI_MCA_plm", "rsh", 1); /* no other launcher finds the sites */
    setenv("OMPI_MCA_plm_rsh_agent", agent, 1);
    /* Its session folders go with the lab, and are not those of the machine's own root. */
    setenv("OMPI_MCA_orte_tmpdir_base", folder, 1);
    setenv("OMPI_MCA_btl_vader_backing_directory", folder, 1);
    setenv(LAB_FACTS_VARIABLE, facts_path, 1);
    /* gradsync is found, whatever this program was started as. */
    const char *before = getenv("PATH");
    AUTO_FREE char *path =
        xstrfmt("%s%s%s", before ? before : "", before ? ":" : "", program_dir());
    setenv("PATH", path, 1);
}

/* ---- signals, of gradsync lab and of its init ---- */

static volatile sig_atomic_t pass_to; /* a process; 0: none */

static void pass_on(int signal)
{
    if (pass_to > 0)
        kill((pid_t)pass_to, signal);
}

static void leave(int signal)
{
    _exit(128 + signal);
}

/* Ignored signals stay ignored. `signals` ends with 0. */
static void handle(const int *signals, void (*handler)(int), int flags)
{
    for (; *signals; signals++) {
        struct sigaction now, then = {.sa_handler = handler, .sa_flags = flags};
        sigaction(*signals, NULL, &now);
        if (now.sa_handler != SIG_IGN)
            sigaction(*signals, &then, NULL);
    }
}

/* From now on `child` gets the signals. The terminal itself sends Ctrl-C to the command. */
static void pass_signals(pid_t child)
{
    pass_to = child;
    handle((const int[]){SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, 0}, pass_on, SA_RESTART);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
}

/* ---- the init ----
 *
 * The first process of a lab. It makes the sites, probes them, and runs the command. The lab ends
 * when this process ends.
 */

#define PROBES 3 /* a short disturbance must not fail the lab */

struct lab {
    const struct lab_spec *spec;
    const struct scratch *folder;
    char *hosts, *facts_path, *control_path;
    struct site_devices devices[LAB_SITES_MAX];
    pid_t holders[LAB_SITES_MAX], relay, command;
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

/* Forks a child that Ctrl-C of a terminal does not reach; Ctrl-C is for the command. */
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
    AUTO(site_return_congestion) struct site_loan loan = {0};
    site_lend_congestion(&loan, l->spec->congestion);
    for (size_t i = 0; i < l->spec->n; i++) {
        CHECK(site_make(l->spec, i, l->rmem_B, &l->devices[i]));
        l->holders[i] = fork_part();
        while (l->holders[i] == 0)
            pause();
        if (l->holders[i] < 0)
            return GS_CANNOT;
    }
    return GS_OK;
}

static int start_relay(struct lab *l)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", l->control_path);
    AUTO_CLOSE int control = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (control < 0 || bind(control, (struct sockaddr *)&at, sizeof at))
        return fail(GS_CANNOT, "lab: %s: %s", at.sun_path, strerror(errno));
    l->relay = fork_part();
    if (l->relay == 0)
        _exit(relay_run(l->spec, l->devices, control));
    for (size_t i = 0; i < l->spec->n; i++) {
        close(l->devices[i].wan);
        close(l->devices[i].ctl);
    }
    return l->relay < 0 ? GS_CANNOT : GS_OK;
}

/* ---- the proof ---- */

/* Probes the lab until it matches the config, at most PROBES times. The first deviation is the
 * reason: packets left over from the first probe may disturb the next. */
static int prove(struct lab *l)
{
    int code = GS_CANNOT;
    char why[512], again[512];
    for (int i = 0; code && i < PROBES; i++) {
        AUTO_FREE struct probe_pair *pairs = NULL;
        CHECK(probe_run(&pairs, l->spec, l->holders));
        code = probe_judge(pairs, l->spec, i ? again : why, sizeof why);
        json_object_set_new(l->facts, "before", probe_json(pairs, l->spec));
        if (!code) {
            AUTO_FREE char *text = probe_text(pairs, l->spec);
            say("lab: before the command: %s", text);
        }
    }
    if (code)
        return fail(GS_CANNOT,
                    "lab: %s: this machine is too busy to emulate that; free processors, "
                    "or lower rate in [links]",
                    why);
    return lab_facts_write(l->facts, l->facts_path);
}

/* ---- the command ---- */

static void run_command(const struct lab *l, char **command)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (site_enter(l->spec->sites[0].name, l->holders[0]))
        _exit(GS_CANNOT);
    set_environment(l->facts_path, l->folder->dir);
    execvp(command[0], command);
    int why = errno;
    fail(GS_USAGE, "lab: %s: %s", command[0], strerror(why));
    _exit(why == ENOENT ? 127 : 126);
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Also reaps orphans, as any init. */
static int wait_for_command(struct lab *l)
{
    for (;;) {
        int status;
        pid_t pid = wait(&status);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid == l->relay) {
            l->relay = 0;
            return fail(GS_FAILED, "lab: the relay ended (status %d): the sites are disconnected",
                        status);
        }
        if (pid < 0)
            return fail(GS_FAILED, "lab: cannot wait for the command: %s", strerror(errno));
        if (pid == l->command)
            return code_of(status);
    }
}

/* ---- the whole ---- */

static int make_and_run(struct lab *l, char **command)
{
    CHECK(write_hosts(l));
    CHECK(site_mount(l->hosts));
    CHECK(make_sites(l));
    CHECK(start_relay(l));
    l->facts = lab_facts_make(l->spec, l->rmem_B, l->holders, l->control_path);
    CHECK(lab_facts_write(l->facts, l->facts_path));
    CHECK(prove(l));
    l->command = fork();
    if (l->command == 0)
        run_command(l, command);
    if (l->command < 0)
        return fail(GS_CANNOT, "lab: fork: %s", strerror(errno));
    pass_signals(l->command);
    int code = wait_for_command(l);
    pass_to = 0;
    return code;
}

/* `folder`: an existing folder of the lab. Does not return. */
static _Noreturn void run_init(const struct lab_spec *s, const struct scratch *folder,
                               char **command)
{
    struct lab *l = &lab;
    *l = (struct lab){.spec = s, .folder = folder, .rmem_B = site_rmem_B(s)};
    l->hosts = xstrfmt("%s/hosts", folder->dir);
    l->facts_path = xstrfmt("%s/lab.json", folder->dir);
    l->control_path = xstrfmt("%s/control", folder->dir);
    /* An init gets only signals that it handles. */
    handle((const int[]){SIGTERM, SIGHUP, SIGINT, SIGQUIT, 0}, leave, 0);
    int code = make_and_run(l, command);
    fflush(NULL);
    _exit(code);
}

/* ---- the verbs ---- */

int lab_run(const struct lab_spec *s, char **command)
{
    AUTO(scratch_remove) struct scratch folder = {0};
    if (getenv(LAB_FACTS_VARIABLE))
        return fail(GS_USAGE, "lab: already inside a lab (" LAB_FACTS_VARIABLE " is set)");
    scratch_make(&folder);
    if (!folder.dir)
        return fail(GS_CANNOT, "lab: cannot make a folder in /dev/shm: %s", strerror(errno));
    pid_t init = site_fork_init();
    if (init == 0)
        run_init(s, &folder, command);
    if (init < 0)
        return GS_CANNOT;
    pass_signals(init);
    int status;
    while (waitpid(init, &status, 0) < 0)
        if (errno != EINTR)
            return fail(GS_FAILED, "lab: wait: %s", strerror(errno));
    return code_of(status);
}

int lab_enter(const char *site, char **argv)
{
    AUTO_JSON json_t *facts = NULL;
    json_t *one;
    const char *names[LAB_SITES_MAX];
    size_t i, n = 0;
    long holder = 0;
    CHECK(lab_facts_read(&facts));
    if (!facts)
        return fail(GS_USAGE, "lab enter: not inside a lab; run it from a command of gradsync lab");
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
        return fail(GS_USAGE, "lab enter: no site '%.64s' in this lab%s", site, DID_YOU_MEAN(near));
    CHECK(site_enter(site, holder));
    execvp(argv[0], argv);
    int why = errno;
    fail(GS_FAILED, "lab enter: %s: %s", argv[0], strerror(why));
    return why == ENOENT ? 127 : 126;
}
