/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/site.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <math.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- namespaces ----
 *
 * The namespaces of a lab: processes, mounts and, without privilege, users. The first process of
 * the lab is their init. When it or its parent ends, the kernel kills all other processes of the
 * lab and removes its networks, devices and mounts. Nothing is visible outside.
 */

#define SPACES (CLONE_NEWPID | CLONE_NEWNS)

static pid_t fork_into(int spaces)
{
    return (pid_t)syscall(SYS_clone, spaces | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void refuse(int why)
{
    fail(GS_CANNOT,
         "lab: no permission for namespaces: %s; run as root, or run as root: sysctl -w "
         "user.max_user_namespaces=10000 kernel.unprivileged_userns_clone=1 "
         "kernel.apparmor_restrict_unprivileged_userns=0 (some kernels lack some of these keys)",
         strerror(why));
}

pid_t site_fork_init(void)
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
        /* The child lives no longer than its parent. If the parent died before prctl, the read
         * from the pipe ends, since the parent held its other end. */
        char byte;
        close(alive[1]);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (read(alive[0], &byte, 1) != 1)
            _exit(GS_FAILED);
        close(alive[0]);
        /* Root of its own namespace, and outside who it was. */
        AUTO_FREE char *user = xstrfmt("0 %u 1", uid), *group = xstrfmt("0 %u 1", gid);
        if (users &&
            !(files_put("/proc/self/uid_map", user) && files_put("/proc/self/setgroups", "deny") &&
              files_put("/proc/self/gid_map", group))) {
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

int site_mount(const char *hosts)
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

#define SITE_RMEM_MIN_B (6 << 20)

#define TUN_DEVICE "/dev/net/tun"
#define QUEUE_PACKETS 10000 /* between a site's kernel and the relay; it must never drop packets */
#define SYS "/proc/sys/net/"
#define ALLOWED SYS "ipv4/tcp_allowed_congestion_control"

/* ---- settings of a network ---- */

static int setting(const char *path, const char *value)
{
    if (files_put(path, value))
        return GS_OK;
    return fail(GS_CANNOT, "lab: cannot set %s to '%s': %s", path, value, strerror(errno));
}

/* The kernel restricts some congestion controls to the machine's own network, unless the machine
 * allows them elsewhere. Root may allow one while the sites are made; a site keeps its setting
 * afterwards. Only one lab may do this at a time, or one would revoke the permission of another.
 * Each lab has its own /proc, so the lock is on the TUN device. */
void site_lend_congestion(struct site_loan *l, const char *name)
{
    AUTO_TEXT struct text allowed = {0};
    *l = (struct site_loan){.fd = open(ALLOWED, O_WRONLY | O_CLOEXEC),
                            .lock = open(TUN_DEVICE, O_RDONLY | O_CLOEXEC)};
    if (l->fd < 0 || l->lock < 0 || flock(l->lock, LOCK_EX) ||
        !files_read(ALLOWED, FILES_GIVEN, SIZE_MAX, &allowed)) {
        site_return_congestion(l);
        return;
    }
    AUTO_WORDS struct words w = {0};
    allowed.s[strcspn(allowed.s, "\n")] = '\0';
    words_split(&w, allowed.s, ' ');
    if (!words_has(&w, name)) {
        AUTO_FREE char *more = xstrfmt("%s %s", allowed.s, name);
        l->before = xstrdup(allowed.s);
        if (pwrite(l->fd, more, strlen(more), 0) < 0)
            site_return_congestion(l);
    }
}

void site_return_congestion(struct site_loan *l)
{
    if (l->before && pwrite(l->fd, l->before, strlen(l->before), 0) < 0)
        say("lab: " ALLOWED " cannot be restored to '%s': %s", l->before, strerror(errno));
    if (l->lock >= 0) {
        flock(l->lock, LOCK_UN); /* the processes of the sites inherited it */
        close(l->lock);
    }
    if (l->fd >= 0)
        close(l->fd);
    free(l->before);
    *l = (struct site_loan){.fd = -1, .lock = -1};
}

double site_rmem_B(const struct lab_spec *s)
{
    double most = SITE_RMEM_MIN_B;
    for (size_t i = 0; i < s->n; i++)
        most = fmax(most, 2 * fmax(s->sites[i].up_Bps, s->sites[i].down_Bps) * lab_max_rtt_s(s));
    return fmin(ceil(most), 1 << 30);
}

static int set_tcp(const struct lab_spec *s, double rmem_B)
{
    char memory[64];
    /* Twice the payload: the kernel also counts its own overhead. */
    snprintf(memory, sizeof memory, "4096 131072 %.0f", fmin(2 * rmem_B, 2147483647));
    if (!files_put(SYS "ipv4/tcp_congestion_control", s->congestion))
        return fail(GS_CANNOT,
                    "lab: congestion=%s: %s: not available here, or not permitted for sites; run "
                    "as root: sysctl -w net.ipv4.tcp_allowed_congestion_control='reno %s', or use "
                    "--set links:congestion=reno",
                    s->congestion, strerror(errno), s->congestion);
    int code = GS_OK;
    TRY(code, setting(SYS "ipv4/tcp_rmem", memory));
    TRY(code, setting(SYS "ipv4/tcp_wmem", memory));
    /* A connection must not start with metrics of an earlier one. */
    return code ? code : setting(SYS "ipv4/tcp_no_metrics_save", "1");
}

/* ---- devices ---- */

static int open_tun(const char *name)
{
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
    int fd = open(TUN_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        const char *remedy = errno == EACCES ? "as root: chmod 666 " TUN_DEVICE
                                             : "as root: modprobe tun, or start the container with "
                                               "--device " TUN_DEVICE;
        fail(GS_CANNOT, "lab: %s: %s: %s", TUN_DEVICE, strerror(errno), remedy);
        return -1;
    }
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    /* Nothing here damages packets, so checksums are not computed. */
    if (ioctl(fd, TUNSETIFF, &r) || ioctl(fd, TUNSETOFFLOAD, (unsigned long)TUN_F_CSUM)) {
        fail(GS_CANNOT, "lab: cannot make device %s: %s", name, strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

static void set_address(struct ifreq *r, const char *address)
{
    struct sockaddr_in *in = (struct sockaddr_in *)(void *)&r->ifr_addr;
    memset(in, 0, sizeof *in);
    in->sin_family = AF_INET;
    inet_pton(AF_INET, address, &in->sin_addr);
}

/* Brings a device up; one with an address gets that, too. */
static bool bring_up(int ask, const char *name, const char *address, int mtu_B)
{
    struct ifreq r = {.ifr_mtu = mtu_B};
    bool ok = true;
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    if (*address) {
        ok = !ioctl(ask, SIOCSIFMTU, &r);
        /* Needs privilege; without it the kernel's 500 stays. */
        r.ifr_qlen = QUEUE_PACKETS;
        ioctl(ask, SIOCSIFTXQLEN, &r);
        set_address(&r, address);
        ok = ok && !ioctl(ask, SIOCSIFADDR, &r);
        set_address(&r, "255.255.255.0");
        ok = ok && !ioctl(ask, SIOCSIFNETMASK, &r);
    }
    r.ifr_flags = IFF_UP | IFF_RUNNING;
    return ok && !ioctl(ask, SIOCSIFFLAGS, &r);
}

static int set_up(const struct lab_spec *s, size_t i)
{
    char wan[32], ctl[32];
    snprintf(wan, sizeof wan, SITE_WAN_NET "%zu", i + SITE_FIRST_HOST);
    snprintf(ctl, sizeof ctl, SITE_CTL_NET "%zu", i + SITE_FIRST_HOST);
    AUTO_CLOSE int ask = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok = ask >= 0 && bring_up(ask, "lo", "", 0) && bring_up(ask, "wan0", wan, s->mtu_B) &&
              bring_up(ask, "ctl0", ctl, s->mtu_B);
    return ok ? GS_OK
              : fail(GS_CANNOT, "lab: cannot set up the devices of site %s: %s", s->sites[i].name,
                     strerror(errno));
}

int site_make(const struct lab_spec *s, size_t i, double rmem_B, struct site_devices *d)
{
    const char *name = s->sites[i].name;
    *d = (struct site_devices){-1, -1};
    if (unshare(CLONE_NEWNET | CLONE_NEWUTS))
        return fail(GS_CANNOT, "lab: cannot make the namespaces of site %s: %s", name,
                    strerror(errno));
    if (sethostname(name, strlen(name)))
        return fail(GS_CANNOT, "lab: cannot set the host name of site %s: %s", name,
                    strerror(errno));
    /* IPv6 is not used, and its announcements would be counted as packets. */
    files_put(SYS "ipv6/conf/default/disable_ipv6", "1");
    if ((d->wan = open_tun("wan0")) < 0 || (d->ctl = open_tun("ctl0")) < 0)
        return GS_CANNOT;
    CHECK(set_tcp(s, rmem_B));
    return set_up(s, i);
}

/* ---- entering ---- */

int site_enter(const char *name, long holder)
{
    static const struct {
        const char *file;
        int kind;
    } spaces[] = {{"net", CLONE_NEWNET}, {"uts", CLONE_NEWUTS}};
    for (size_t i = 0; i < COUNT(spaces); i++) {
        AUTO_FREE char *path = xstrfmt("/proc/%ld/ns/%s", holder, spaces[i].file);
        AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || setns(fd, spaces[i].kind))
            return fail(GS_CANNOT,
                        "lab: cannot enter site %s: %s; this works only inside gradsync lab", name,
                        strerror(errno));
    }
    return GS_OK;
}
