/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/namespaces.h"

#include "base/err.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPACES (CLONE_NEWPID | CLONE_NEWNS)

static pid_t fork_into(int spaces)
{
    return (pid_t)syscall(SYS_clone, spaces | SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Root of its own namespace, and outside who it was. */
static bool map_users(uid_t uid, gid_t gid)
{
    char users[32], groups[32];
    snprintf(users, sizeof users, "0 %u 1", uid);
    snprintf(groups, sizeof groups, "0 %u 1", gid);
    return files_put("/proc/self/uid_map", users) && files_put("/proc/self/setgroups", "deny") &&
           files_put("/proc/self/gid_map", groups);
}

/* The child lives no longer than its parent. The parent's death before prctl is seen in the pipe,
 * of which it holds the other end. */
static void tie(int alive)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(alive, &byte, 1) != 1)
        _exit(GS_FAILED);
    close(alive);
}

static void refuse(int why)
{
    fail(GS_CANNOT,
         "lab: no permission for namespaces: %s; run as root, or run as root: sysctl -w "
         "user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 "
         "kernel.apparmor_restrict_unprivileged_userns=0 (some kernels lack some of these keys)",
         strerror(why));
}

pid_t namespaces_fork(void)
{
    int alive[2];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    bool users = uid != 0;
    if (pipe2(alive, O_CLOEXEC))
        return fail(GS_CANNOT, "lab: pipe: %s", strerror(errno)), -1;
    pid_t pid = users ? -1 : fork_into(SPACES);
    /* Root in a container may lack the privilege, and have it in a namespace of its own. */
    if (pid < 0) {
        users = true;
        pid = fork_into(SPACES | CLONE_NEWUSER);
    }
    if (pid < 0)
        refuse(errno);
    if (pid == 0) {
        close(alive[1]);
        tie(alive[0]);
        if (users && !map_users(uid, gid)) {
            refuse(errno);
            _exit(GS_CANNOT);
        }
        return 0;
    }
    close(alive[0]);
    if (pid > 0 && write(alive[1], "", 1) != 1)
        pid = (kill(pid, SIGKILL), -1);
    close(alive[1]);
    return pid;
}

int namespaces_mount(const char *hosts)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return fail(GS_CANNOT, "lab: cannot make private mounts: %s", strerror(errno));
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
        return fail(GS_CANNOT,
                    "lab: cannot mount a private /proc: %s; run as root, or where /proc has no "
                    "other mounts in it",
                    strerror(errno));
    if (mount(hosts, "/etc/hosts", NULL, MS_BIND, NULL))
        return fail(GS_CANNOT, "lab: cannot mount the site names over /etc/hosts: %s",
                    strerror(errno));
    return GS_OK;
}
