/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/fabric.h"

#include "base/files.h"
#include "base/text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

/* The file's first line without its end; "" when it cannot be read. */
static const char *line_of(char *buf, size_t n, const char *path)
{
    AUTO_FCLOSE FILE *f = fopen(path, "r");
    buf[0] = '\0';
    if (f && fgets(buf, (int)n, f))
        buf[strcspn(buf, "\n")] = '\0';
    return buf;
}

__attribute__((format(printf, 3, 4))) static const char *read_at(char *buf, size_t n,
                                                                 const char *fmt, ...)
{
    va_list args;
    char path[PATH_MAX];
    va_start(args, fmt);
    vsnprintf(path, sizeof path, fmt, args);
    va_end(args);
    return line_of(buf, n, path);
}

static struct words names_in(const char *folder)
{
    struct words w = {0};
    files_list(folder, "*", &w);
    return w;
}

/* The PCI device that `link` (…/device) leads to. */
static void read_pci(struct fabric_pci *p, const char *link)
{
    char real[PATH_MAX], buf[64];
    *p = (struct fabric_pci){.numa = -1};
    if (!realpath(link, real))
        return;
    const char *below = strstr(real, "/sys/devices/");
    const char *last = strrchr(real, '/');
    unsigned domain, bus, slot, function;
    if (!below || sscanf(last + 1, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
        return;
    p->path = xstrdup(below + strlen("/sys/devices/"));
    snprintf(p->address, sizeof p->address, "%.15s", last + 1);
    if (*read_at(buf, sizeof buf, "%s/numa_node", real))
        p->numa = atoi(buf);
}

/* ---- what there is ---- */

/* Display controllers (class 03) and processing accelerators (12) of NVIDIA (10de). */
static void read_gpus(struct fabric *f, const char *root)
{
    AUTO_FREE char *folder = xstrfmt("%s/sys/bus/pci/devices", root);
    AUTO_WORDS struct words w = names_in(folder);
    for (size_t i = 0; i < w.n && f->gpus < FABRIC_MAX; i++) {
        char vendor[16], class[16];
        read_at(vendor, sizeof vendor, "%s/%s/vendor", folder, w.v[i]);
        read_at(class, sizeof class, "%s/%s/class", folder, w.v[i]);
        if (strcmp(vendor, "0x10de") || (strncmp(class, "0x03", 4) && strncmp(class, "0x12", 4)))
            continue;
        AUTO_FREE char *path = xstrfmt("%s/%s", folder, w.v[i]);
        read_pci(&f->gpu[f->gpus++], path);
    }
}

/* The index of the RoCE v2 address over IPv4, whatever the control connections use. */
static int find_gid(const char *port)
{
    char type[32], gid[64];
    for (int i = 0; i < 256; i++) {
        if (!*read_at(gid, sizeof gid, "%s/gids/%d", port, i))
            return -1;
        read_at(type, sizeof type, "%s/gid_attrs/types/%d", port, i);
        if (!strcmp(type, "RoCE v2") && !strncmp(gid, "0000:0000:0000:0000:0000:ffff:", 30))
            return i;
    }
    return -1;
}

static bool is_efa(const char *device)
{
    AUTO_FREE char *link = xstrfmt("%s/device/driver", device);
    char target[PATH_MAX], vendor[16];
    ssize_t n = readlink(link, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    read_at(vendor, sizeof vendor, "%s/device/vendor", device);
    return !strcmp(path_name(target), "efa") || !strcmp(vendor, "0x1d0f");
}

static void read_port(struct fabric_port *p, const char *folder, const char *name)
{
    AUTO_FREE char *device = xstrfmt("%s/%s", folder, name), *port = xstrfmt("%s/ports/1", device),
                   *link = xstrfmt("%s/device", device);
    char buf[64];
    double gigabits = 0;
    snprintf(p->name, sizeof p->name, "%s", name);
    read_pci(&p->pci, link);
    bool ethernet = !strcmp(read_at(buf, sizeof buf, "%s/link_layer", port), "Ethernet");
    p->kind = is_efa(device) ? FABRIC_EFA : ethernet ? FABRIC_ROCE : FABRIC_INFINIBAND;
    p->active = strstr(read_at(buf, sizeof buf, "%s/state", port), "ACTIVE");
    if (sscanf(read_at(buf, sizeof buf, "%s/rate", port), "%lf", &gigabits) == 1)
        p->rate = gigabits * 1e9 / 8;
    p->gid = p->kind == FABRIC_ROCE ? find_gid(port) : -1;
}

static void read_ports(struct fabric *f, const char *root)
{
    AUTO_FREE char *folder = xstrfmt("%s/sys/class/infiniband", root);
    AUTO_WORDS struct words w = names_in(folder);
    for (size_t i = 0; i < w.n && f->ports < FABRIC_MAX; i++)
        read_port(&f->port[f->ports++], folder, w.v[i]);
}

static struct fabric_interface *interface_named(struct fabric *f, const char *name)
{
    for (size_t i = 0; i < f->interfaces; i++)
        if (!strcmp(f->interface[i].name, name))
            return &f->interface[i];
    return NULL;
}

/* The routes show which interfaces have an IPv4 address and which has the default route. */
static void read_routes(struct fabric *f, const char *root)
{
    AUTO_FREE char *path = xstrfmt("%s/proc/net/route", root);
    AUTO_FCLOSE FILE *in = fopen(path, "r");
    char line[512], name[32];
    unsigned long destination;
    while (in && fgets(line, sizeof line, in)) {
        struct fabric_interface *i;
        if (sscanf(line, "%31s %lx", name, &destination) != 2 || !(i = interface_named(f, name)))
            continue;
        i->ipv4 = true;
        i->default_route = i->default_route || destination == 0;
    }
}

/* "20010db8… 02 40 00 80 eth0": scope 00 is global. */
static void read_ipv6(struct fabric *f, const char *root)
{
    AUTO_FREE char *path = xstrfmt("%s/proc/net/if_inet6", root);
    AUTO_FCLOSE FILE *in = fopen(path, "r");
    char line[256], name[32];
    unsigned scope;
    while (in && fgets(line, sizeof line, in)) {
        struct fabric_interface *i;
        if (sscanf(line, "%*s %*x %*x %x %*x %31s", &scope, name) == 2 && scope == 0 &&
            (i = interface_named(f, name)))
            i->ipv6 = true;
    }
}

static void read_interfaces(struct fabric *f, const char *root)
{
    AUTO_FREE char *folder = xstrfmt("%s/sys/class/net", root);
    AUTO_WORDS struct words w = names_in(folder);
    char buf[64];
    for (size_t i = 0; i < w.n && f->interfaces < FABRIC_MAX; i++) {
        struct fabric_interface *to = &f->interface[f->interfaces++];
        AUTO_FREE char *device = xstrfmt("%s/%s/device", folder, w.v[i]);
        snprintf(to->name, sizeof to->name, "%s", w.v[i]);
        const char *state = read_at(buf, sizeof buf, "%s/%s/operstate", folder, w.v[i]);
        to->up = !strcmp(state, "up") || !strcmp(state, "unknown");
        to->virtual = access(device, F_OK) != 0; /* loop-back, bridges, containers' */
    }
    read_routes(f, root);
    read_ipv6(f, root);
}

static char *find_plugin(const char *root)
{
    static const char *const folders[] = {"/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
                                          "/opt/amazon/ofi-nccl/lib64",
                                          "/opt/amazon/ofi-nccl/lib",
                                          "/opt/aws-ofi-nccl/lib",
                                          "/usr/local/lib",
                                          "/usr/lib/x86_64-linux-gnu"};
    static const char *const files[] = {"libnccl-net-ofi.so", "libnccl-net.so"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (size_t j = 0; j < sizeof files / sizeof *files; j++) {
            AUTO_FREE char *path = xstrfmt("%s%s/%s", root, folders[i], files[j]);
            if (!access(path, R_OK))
                return xstrdup(path + strlen(root));
        }
    return NULL;
}

static bool has_module(const char *root, const char *name)
{
    AUTO_FREE char *path = xstrfmt("%s/sys/module/%s", root, name);
    return access(path, F_OK) == 0;
}

void fabric_read(struct fabric *f, const char *root)
{
    *f = (struct fabric){0};
    read_gpus(f, root);
    read_ports(f, root);
    read_interfaces(f, root);
    f->gpudirect = has_module(root, "nvidia_peermem") || has_module(root, "nv_peer_mem");
    f->ofi_plugin = find_plugin(root);
}

void fabric_free(struct fabric *f)
{
    for (size_t i = 0; i < f->gpus; i++)
        free(f->gpu[i].path);
    for (size_t i = 0; i < f->ports; i++)
        free(f->port[i].pci.path);
    free(f->ofi_plugin);
    *f = (struct fabric){0};
}
