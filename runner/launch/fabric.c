/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/fabric.h"

#include "base/files.h"
#include "base/text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pci {
    char address[16]; /* 0000:1b:00.0; "" if it is not a PCI device */
    char *path;       /* below /sys/devices, resolved */
    int numa;         /* -1: unknown */
};

struct port {
    char name[32]; /* mlx5_0 */
    const char *kind;
    struct pci pci;
    bool active;
    double rate; /* bytes/s in one direction */
    int gid;     /* RoCE v2 with an IPv4 address; -1: none */
};

struct interface {
    char name[32];
    bool up, virtual, ipv4, ipv6, default_route;
};

struct fabric {
    struct pci *gpu;
    struct port *port;
    struct interface control; /* the best for NCCL's connections; without a name: none */
    size_t gpus, ports;
    char *ofi_plugin; /* libfabric's NCCL plugin, e.g. aws-ofi-nccl; NULL: none found */
};

static const char infiniband[] = "InfiniBand", roce[] = "RoCE", efa[] = "EFA";

/* ---- what there is ---- */

/* The first line of a file without its end; "" when it cannot be read. */
__attribute__((format(printf, 3, 4))) static const char *read_at(char *buf, size_t n,
                                                                 const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    AUTO_FREE char *path = xvstrfmt(fmt, args);
    va_end(args);
    AUTO_FCLOSE FILE *f = fopen(path, "r");
    if (!f || !fgets(buf, (int)n, f))
        buf[0] = '\0';
    buf[strcspn(buf, "\n")] = '\0';
    return buf;
}

/* The PCI device that `link` (…/device) leads to. */
static void read_pci(struct pci *p, const char *link)
{
    char real[PATH_MAX], buf[64];
    *p = (struct pci){.numa = -1};
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

/* Display controllers (class 03) and processing accelerators (12) of NVIDIA (10de). */
static void read_gpus(struct fabric *f, const char *root)
{
    AUTO_FREE char *folder = xstrfmt("%s/sys/bus/pci/devices", root);
    AUTO_WORDS struct words w = {0};
    files_list(folder, "*", &w);
    for (size_t i = 0; i < w.n; i++) {
        char vendor[16], class[16];
        read_at(vendor, sizeof vendor, "%s/%s/vendor", folder, w.v[i]);
        read_at(class, sizeof class, "%s/%s/class", folder, w.v[i]);
        if (strcmp(vendor, "0x10de") || (strncmp(class, "0x03", 4) && strncmp(class, "0x12", 4)))
            continue;
        AUTO_FREE char *path = xstrfmt("%s/%s", folder, w.v[i]);
        read_pci(&APPEND(f->gpu, f->gpus), path);
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

static const char *kind_of(const char *device)
{
    AUTO_FREE char *link = xstrfmt("%s/device/driver", device);
    char target[PATH_MAX], buf[64];
    ssize_t n = readlink(link, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    if (!strcmp(path_name(target), "efa") ||
        !strcmp(read_at(buf, sizeof buf, "%s/device/vendor", device), "0x1d0f"))
        return efa;
    read_at(buf, sizeof buf, "%s/ports/1/link_layer", device);
    return strcmp(buf, "Ethernet") ? infiniband : roce;
}

static void read_ports(struct fabric *f, const char *root)
{
    AUTO_FREE char *folder = xstrfmt("%s/sys/class/infiniband", root);
    AUTO_WORDS struct words w = {0};
    files_list(folder, "*", &w);
    for (size_t i = 0; i < w.n; i++) {
        AUTO_FREE char *device = xstrfmt("%s/%s", folder, w.v[i]),
                       *at = xstrfmt("%s/ports/1", device), *link = xstrfmt("%s/device", device);
        char state[64], rate[64];
        double gigabits = 0;
        struct port p = {.kind = kind_of(device)};
        snprintf(p.name, sizeof p.name, "%s", w.v[i]);
        read_pci(&p.pci, link);
        p.active = strstr(read_at(state, sizeof state, "%s/state", at), "ACTIVE");
        if (sscanf(read_at(rate, sizeof rate, "%s/rate", at), "%lf", &gigabits) == 1)
            p.rate = gigabits * 1e9 / 8;
        p.gid = p.kind == roce ? find_gid(at) : -1;
        APPEND(f->port, f->ports) = p;
    }
}

/* The routes show which interfaces have an IPv4 address and which has the default route. Of an IPv6
 * address, "20010db8… 02 40 00 80 eth0", scope 00 is global. */
static void read_addresses(struct interface *i, const char *root)
{
    AUTO_FREE char *routes = xstrfmt("%s/proc/net/route", root),
                   *inet6 = xstrfmt("%s/proc/net/if_inet6", root);
    AUTO_FCLOSE FILE *in4 = fopen(routes, "r"), *in6 = fopen(inet6, "r");
    char line[512], name[32];
    unsigned long destination;
    unsigned scope;
    while (in4 && fgets(line, sizeof line, in4))
        if (sscanf(line, "%31s %lx", name, &destination) == 2 && !strcmp(name, i->name)) {
            i->ipv4 = true;
            i->default_route = i->default_route || destination == 0;
        }
    while (in6 && fgets(line, sizeof line, in6))
        if (sscanf(line, "%*s %*x %*x %x %*x %31s", &scope, name) == 2 && !strcmp(name, i->name))
            i->ipv6 = i->ipv6 || scope == 0;
}

/* The rank of an interface for NCCL's connections; 0: unusable. */
static int merit(const struct interface *i)
{
    bool usable = i->up && (i->ipv4 || i->ipv6) && strcmp(i->name, "lo") != 0;
    return usable ? 1 + 4 * i->default_route + 2 * !i->virtual : 0;
}

static void read_interfaces(struct fabric *f, const char *root)
{
    AUTO_FREE char *folder = xstrfmt("%s/sys/class/net", root);
    AUTO_WORDS struct words w = {0};
    char buf[64];
    files_list(folder, "*", &w);
    for (size_t i = 0; i < w.n; i++) {
        struct interface one = {0};
        AUTO_FREE char *device = xstrfmt("%s/%s/device", folder, w.v[i]);
        snprintf(one.name, sizeof one.name, "%s", w.v[i]);
        const char *state = read_at(buf, sizeof buf, "%s/%s/operstate", folder, w.v[i]);
        one.up = !strcmp(state, "up") || !strcmp(state, "unknown");
        one.virtual = access(device, F_OK) != 0; /* loop-back, bridges, containers' */
        read_addresses(&one, root);
        if (merit(&one) > merit(&f->control))
            f->control = one;
    }
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
    for (size_t i = 0; i < COUNT(folders); i++)
        for (size_t j = 0; j < COUNT(files); j++) {
            AUTO_FREE char *path = xstrfmt("%s%s/%s", root, folders[i], files[j]);
            if (!access(path, R_OK))
                return xstrdup(path + strlen(root));
        }
    return NULL;
}

/* ---- how near a port is ---- */

/* Parts of a path from `at` on. */
static int parts(const char *at)
{
    int n = 0;
    for (; at && *at; at = strchr(at + 1, '/'))
        n++;
    return n;
}

enum distance { PIX, PXB, PHB, NODE, SYS };

/* In pci0000:15/0000:15:01.0/0000:16:00.0/… each part below the host bridge is a bridge. The paths of
 * two devices on one switch differ only in their last two bridges (PIX). */
static enum distance distance(const struct pci *a, const struct pci *b)
{
    if (!a->path || !b->path)
        return SYS;
    size_t same = 0;
    int shared = 0;
    for (size_t i = 0; a->path[i] && a->path[i] == b->path[i]; i++)
        if (a->path[i] == '/') {
            same = i + 1;
            shared++;
        }
    if (shared >= 2)
        return parts(a->path + same) <= 2 && parts(b->path + same) <= 2 ? PIX : PXB;
    if (shared == 1)
        return PHB;
    return a->numa >= 0 && a->numa == b->numa ? NODE : SYS;
}

/* ---- what NCCL would be told ---- */

/* Adds a variable and the reason for its value. */
static void add(json_t *settings, const char *name, const char *value, const char *why)
{
    json_array_append_new(settings, json_pack("{s:s, s:s, s:b, s:s}", "name", name, "value", value,
                                              "kept", getenv(name) != NULL, "why", why));
}

static double highest_rate(const struct fabric *f, const char *kind)
{
    double rate = 0;
    for (size_t i = 0; i < f->ports; i++)
        if (f->port[i].kind == kind && f->port[i].active && f->port[i].rate > rate)
            rate = f->port[i].rate;
    return rate;
}

/* The active ports of the highest rate carry data; slower ones are for storage or management. RoCE also
 * needs the index of an address, if all these ports have the same. */
static void choose_ports(json_t *settings, const struct fabric *f, const char *kind)
{
    double rate = highest_rate(f, kind);
    AUTO_TEXT struct text names = {0};
    size_t used = 0;
    int gid = -1;
    bool agree = true;
    for (size_t i = 0; i < f->ports; i++) {
        const struct port *p = &f->port[i];
        if (p->kind != kind || !p->active || p->rate < rate)
            continue;
        text_addf(&names, "%s%s", used ? "," : "=", p->name);
        agree = agree && (!used++ || p->gid == gid);
        gid = p->gid;
    }
    AUTO_FREE char *why = xstrfmt("the %zu of %zu ports that are active at the highest rate, %.0f "
                                  "Gbit/s; NCCL gives each GPU its nearest",
                                  used, f->ports, rate * 8e-9),
                   *index = xstrfmt("%d", gid);
    add(settings, "NCCL_IB_HCA", names.s, why);
    if (gid >= 0 && agree)
        add(settings, "NCCL_IB_GID_INDEX", index,
            "the RoCE v2 address over IPv4, the same on every such port");
}

static void choose_control(json_t *settings, const struct fabric *f)
{
    const struct interface *i = &f->control;
    AUTO_FREE char *name = xstrfmt("=%s", i->name),
                   *why = xstrfmt("connections are set up over it: it is up and has %s; '=' before "
                                  "the name: exactly this interface",
                                  i->default_route ? "the default route" : "an address"),
                   *alone = xstrfmt("%s has IPv6 addresses alone", i->name);
    add(settings, "NCCL_SOCKET_IFNAME", name, why);
    if (!i->ipv4)
        add(settings, "NCCL_SOCKET_FAMILY", "AF_INET6", alone);
    if (!i->ipv4 && highest_rate(f, roce) > 0)
        add(settings, "NCCL_IB_ADDR_FAMILY", "AF_INET",
            "data still goes over RoCE's IPv4 addresses");
}

/* ---- all of it ---- */

/* Each GPU with the ports by their distance from it, nearest first: {"mlx5_0": "PIX", …}. */
static json_t *gpus_json(const struct fabric *f)
{
    static const char *const names[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
    json_t *all = json_array();
    for (size_t g = 0; g < f->gpus; g++) {
        json_t *ports = json_object();
        for (enum distance d = PIX; d <= SYS; d++)
            for (size_t i = 0; i < f->ports; i++)
                if (distance(&f->gpu[g], &f->port[i].pci) == d)
                    json_object_set_new(ports, f->port[i].name, json_string(names[d]));
        json_array_append_new(all,
                              json_pack("{s:s, s:o}", "pci", f->gpu[g].address, "ports", ports));
    }
    return all;
}

json_t *fabric_json(const char *root)
{
    struct fabric f = {.ofi_plugin = find_plugin(root)};
    AUTO_FREE char *module = xstrfmt("%s/sys/module/nvidia_peermem", root),
                   *older = xstrfmt("%s/sys/module/nv_peer_mem", root);
    bool gpudirect = !access(module, F_OK) || !access(older, F_OK);
    json_t *ports = json_array(), *settings = json_array();
    read_gpus(&f, root);
    read_ports(&f, root);
    read_interfaces(&f, root);
    json_t *all =
        json_pack("{s:o, s:o, s:b}", "ports", ports, "gpus", gpus_json(&f), "gpudirect", gpudirect);

    for (size_t i = 0; i < f.ports; i++)
        json_array_append_new(ports,
                              json_pack("{s:s, s:s, s:s, s:b, s:I}", "name", f.port[i].name, "kind",
                                        f.port[i].kind, "pci", f.port[i].pci.address, "active",
                                        f.port[i].active, "rate_Bps", (json_int_t)f.port[i].rate));
    if (f.ofi_plugin)
        json_object_set_new(all, "ofi_plugin", json_string(f.ofi_plugin));

    if (highest_rate(&f, efa) > 0 && f.ofi_plugin) {
        add(settings, "NCCL_NET_PLUGIN", f.ofi_plugin,
            "EFA speaks libfabric, which NCCL reaches through this plugin");
        add(settings, "FI_PROVIDER", "efa",
            "libfabric's provider for EFA; without it, libfabric may take TCP");
    } else if (highest_rate(&f, efa) <= 0 && highest_rate(&f, infiniband) > 0) {
        choose_ports(settings, &f, infiniband);
    } else if (highest_rate(&f, efa) <= 0 && highest_rate(&f, roce) > 0) {
        choose_ports(settings, &f, roce);
    }
    if (*f.control.name) {
        json_object_set_new(all, "control", json_string(f.control.name));
        json_object_set_new(all, "control_family", json_string(f.control.ipv4 ? "IPv4" : "IPv6"));
        choose_control(settings, &f);
    }
    json_object_set_new(all, "settings", settings);

    for (size_t i = 0; i < f.gpus; i++)
        free(f.gpu[i].path);
    for (size_t i = 0; i < f.ports; i++)
        free(f.port[i].pci.path);
    free(f.gpu);
    free(f.port);
    free(f.ofi_plugin);
    return all;
}
