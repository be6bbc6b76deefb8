/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launcher.h"

#include "base/files.h"
#include "base/text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct port {
    char name[32]; /* mlx5_0 */
    const char *kind;
    char pci[16]; /* 0000:1b:00.0; "": no PCI device */
    bool active;
    double rate; /* bytes/s in one direction */
    int gid;     /* RoCE v2 with an IPv4 address; -1: none */
};

struct fabric {
    struct port *port;
    size_t ports;
    char control[32]; /* the best interface for NCCL's connections; "": none */
    int merit;        /* of it */
    bool only_ipv6;   /* it has no IPv4 address */
    char *ofi_plugin; /* libfabric's NCCL plugin, e.g. aws-ofi-nccl; NULL: none found */
};

enum { HAS_ADDRESS = 1, IS_DEVICE = 2, DEFAULT_ROUTE = 4 }; /* the merit of an interface */

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

/* Display controllers (class 03) and processing accelerators (12) of NVIDIA (10de). */
static json_t *gpus_json(const char *root)
{
    json_t *gpus = json_array();
    AUTO_FREE char *folder = xstrfmt("%s/sys/bus/pci/devices", root);
    AUTO_WORDS struct words w = {0};
    files_list(folder, "*", &w);
    for (size_t i = 0; i < w.n; i++) {
        char vendor[16], class[16];
        read_at(vendor, sizeof vendor, "%s/%s/vendor", folder, w.v[i]);
        read_at(class, sizeof class, "%s/%s/class", folder, w.v[i]);
        if (!strcmp(vendor, "0x10de") && (!strncmp(class, "0x03", 4) || !strncmp(class, "0x12", 4)))
            json_array_append_new(gpus, json_pack("{s:s}", "pci", w.v[i]));
    }
    return gpus;
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
        char state[64], rate[64], real[PATH_MAX];
        unsigned part;
        double gigabits = 0;
        struct port p = {.kind = kind_of(device)};
        snprintf(p.name, sizeof p.name, "%s", w.v[i]);
        if (realpath(link, real) &&
            sscanf(path_name(real), "%x:%x:%x.%x", &part, &part, &part, &part) == 4)
            snprintf(p.pci, sizeof p.pci, "%.15s", path_name(real));
        p.active = strstr(read_at(state, sizeof state, "%s/state", at), "ACTIVE");
        if (sscanf(read_at(rate, sizeof rate, "%s/rate", at), "%lf", &gigabits) == 1)
            p.rate = gigabits * 1e9 / 8;
        p.gid = p.kind == roce ? find_gid(at) : -1;
        APPEND(f->port, f->ports) = p;
    }
}

/* The routes show which interfaces have an IPv4 address and which has the default route. Of an IPv6
 * address, "20010db8… 02 40 00 80 eth0", scope 00 is global. */
static int merit_by_addresses(const char *interface, const char *root, bool *only_ipv6)
{
    AUTO_FREE char *routes = xstrfmt("%s/proc/net/route", root),
                   *inet6 = xstrfmt("%s/proc/net/if_inet6", root);
    AUTO_FCLOSE FILE *in4 = fopen(routes, "r"), *in6 = fopen(inet6, "r");
    char line[512], name[32];
    unsigned long destination;
    unsigned scope;
    int merit = 0;
    while (in4 && fgets(line, sizeof line, in4))
        if (sscanf(line, "%31s %lx", name, &destination) == 2 && !strcmp(name, interface))
            merit |= HAS_ADDRESS | (destination ? 0 : DEFAULT_ROUTE);
    *only_ipv6 = !merit;
    while (in6 && fgets(line, sizeof line, in6))
        if (sscanf(line, "%*s %*x %*x %x %*x %31s", &scope, name) == 2 && !strcmp(name, interface))
            merit |= scope ? 0 : HAS_ADDRESS;
    return merit;
}

static void read_interfaces(struct fabric *f, const char *root)
{
    AUTO_FREE char *folder = xstrfmt("%s/sys/class/net", root);
    AUTO_WORDS struct words w = {0};
    char state[64];
    files_list(folder, "*", &w);
    for (size_t i = 0; i < w.n; i++) {
        AUTO_FREE char *device = xstrfmt("%s/%s/device", folder, w.v[i]);
        bool only_ipv6;
        int merit = merit_by_addresses(w.v[i], root, &only_ipv6);
        read_at(state, sizeof state, "%s/%s/operstate", folder, w.v[i]);
        if (!merit || !strcmp(w.v[i], "lo") || (strcmp(state, "up") && strcmp(state, "unknown")))
            continue;
        merit |= access(device, F_OK) ? 0 : IS_DEVICE; /* not a bridge or a container's */
        if (merit > f->merit) {
            f->merit = merit;
            f->only_ipv6 = only_ipv6;
            snprintf(f->control, sizeof f->control, "%s", w.v[i]);
        }
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

json_t *fabric_json(const char *root)
{
    struct fabric f = {.ofi_plugin = find_plugin(root)};
    AUTO_FREE char *module = xstrfmt("%s/sys/module/nvidia_peermem", root),
                   *older = xstrfmt("%s/sys/module/nv_peer_mem", root);
    bool gpudirect = !access(module, F_OK) || !access(older, F_OK);
    json_t *ports = json_array(), *settings = json_array();
    read_ports(&f, root);
    read_interfaces(&f, root);
    json_t *all = json_pack("{s:o, s:o, s:b}", "ports", ports, "gpus", gpus_json(root), "gpudirect",
                            gpudirect);
    for (size_t i = 0; i < f.ports; i++)
        json_array_append_new(ports,
                              json_pack("{s:s, s:s, s:s, s:b, s:I}", "name", f.port[i].name, "kind",
                                        f.port[i].kind, "pci", f.port[i].pci, "active",
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
    if (*f.control) {
        AUTO_FREE char *name = xstrfmt("=%s", f.control),
                       *why = xstrfmt("connections are set up over it: it is up and has %s; '=' "
                                      "before the name: exactly this interface",
                                      f.merit & DEFAULT_ROUTE ? "the default route" : "an address");
        json_object_set_new(all, "control", json_string(f.control));
        json_object_set_new(all, "control_family", json_string(f.only_ipv6 ? "IPv6" : "IPv4"));
        add(settings, "NCCL_SOCKET_IFNAME", name, why);
    }
    if (f.only_ipv6) {
        AUTO_FREE char *why = xstrfmt("%s has IPv6 addresses alone", f.control);
        add(settings, "NCCL_SOCKET_FAMILY", "AF_INET6", why);
    }
    if (f.only_ipv6 && highest_rate(&f, roce) > 0)
        add(settings, "NCCL_IB_ADDR_FAMILY", "AF_INET",
            "data still goes over RoCE's IPv4 addresses");
    json_object_set_new(all, "settings", settings);
    free(f.port);
    free(f.ofi_plugin);
    return all;
}
