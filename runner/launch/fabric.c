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
    for (size_t i = 0; i < COUNT(folders); i++)
        for (size_t j = 0; j < COUNT(files); j++) {
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

/* ---- NCCL's variables ---- */

const char *fabric_distance_name(enum fabric_distance d)
{
    static const char *const names[] = {[FABRIC_PIX] = "PIX",
                                        [FABRIC_PXB] = "PXB",
                                        [FABRIC_PHB] = "PHB",
                                        [FABRIC_NODE] = "NODE",
                                        [FABRIC_SYS] = "SYS"};
    return names[d];
}

const char *fabric_kind_name(enum fabric_kind k)
{
    static const char *const names[] = {
        [FABRIC_INFINIBAND] = "InfiniBand", [FABRIC_ROCE] = "RoCE", [FABRIC_EFA] = "EFA"};
    return names[k];
}

/* Parts of a path from `at` on. */
static int parts(const char *at)
{
    int n = 0;
    for (; at && *at; at = strchr(at + 1, '/'))
        n++;
    return n;
}

/* In pci0000:15/0000:15:01.0/0000:16:00.0/… each part below the host bridge is a bridge. The paths of
 * two devices on one switch differ only in their last two bridges (PIX). */
enum fabric_distance fabric_distance(const struct fabric_pci *a, const struct fabric_pci *b)
{
    if (!a->path || !b->path)
        return FABRIC_SYS;
    size_t same = 0;
    for (size_t i = 0; a->path[i] && a->path[i] == b->path[i]; i++)
        if (a->path[i] == '/')
            same = i + 1;
    int shared = 0;
    for (size_t i = 0; i < same; i++)
        shared += a->path[i] == '/';
    if (shared >= 2) {
        int longest = parts(a->path + same) > parts(b->path + same) ? parts(a->path + same)
                                                                    : parts(b->path + same);
        return longest <= 2 ? FABRIC_PIX : FABRIC_PXB;
    }
    if (shared == 1)
        return FABRIC_PHB;
    return a->numa >= 0 && a->numa == b->numa ? FABRIC_NODE : FABRIC_SYS;
}

void fabric_order(const struct fabric *f, const struct fabric_pci *gpu, size_t *order)
{
    for (size_t i = 0; i < f->ports; i++) {
        size_t at = i;
        enum fabric_distance d = fabric_distance(gpu, &f->port[i].pci);
        for (; at && fabric_distance(gpu, &f->port[order[at - 1]].pci) > d; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* The rank of an interface for NCCL's connections; 0: unusable. */
static int merit(const struct fabric_interface *i)
{
    if (!i->up || (!i->ipv4 && !i->ipv6))
        return 0;
    return 1 + 4 * i->default_route + 2 * !i->virtual;
}

const struct fabric_interface *fabric_control(const struct fabric *f)
{
    const struct fabric_interface *best = NULL;
    for (size_t i = 0; i < f->interfaces; i++) {
        const struct fabric_interface *this = &f->interface[i];
        if (strcmp(this->name, "lo") && merit(this) > (best ? merit(best) : 0))
            best = this;
    }
    return best;
}

/* ---- what NCCL would be told ---- */

struct chooser {
    struct fabric_setting *settings;
    size_t n;
    char *(*environment)(const char *);
};

static struct fabric_setting *add(struct chooser *c, const char *name)
{
    struct fabric_setting *s = &c->settings[c->n++];
    *s = (struct fabric_setting){.name = name, .kept = c->environment(name)};
    return s;
}

static double highest_rate(const struct fabric *f, enum fabric_kind kind)
{
    double rate = 0;
    for (size_t i = 0; i < f->ports; i++)
        if (f->port[i].kind == kind && f->port[i].active && f->port[i].rate > rate)
            rate = f->port[i].rate;
    return rate;
}

/* The active ports of the highest rate carry data; slower ones are for storage or management. */
static void choose_ports(struct chooser *c, const struct fabric *f, enum fabric_kind kind)
{
    double rate = highest_rate(f, kind);
    struct fabric_setting *s = add(c, "NCCL_IB_HCA");
    size_t at = (size_t)snprintf(s->value, sizeof s->value, "="), used = 0;
    for (size_t i = 0; i < f->ports && at < sizeof s->value; i++) {
        const struct fabric_port *p = &f->port[i];
        if (p->kind == kind && p->active && p->rate >= rate)
            at += (size_t)snprintf(s->value + at, sizeof s->value - at, "%s%s", used++ ? "," : "",
                                   p->name);
    }
    snprintf(s->why, sizeof s->why,
             "the %zu of %zu ports that are active at the highest rate, %.0f Gbit/s; NCCL gives "
             "each GPU its nearest",
             used, f->ports, rate * 8e-9);
}

static void choose_gid(struct chooser *c, const struct fabric *f)
{
    double rate = highest_rate(f, FABRIC_ROCE);
    int gid = -1;
    bool agree = true;
    for (size_t i = 0; i < f->ports; i++) {
        const struct fabric_port *p = &f->port[i];
        if (p->kind != FABRIC_ROCE || !p->active || p->rate < rate)
            continue;
        agree = agree && (gid < 0 || p->gid == gid);
        gid = p->gid;
    }
    if (gid < 0 || !agree)
        return;
    struct fabric_setting *s = add(c, "NCCL_IB_GID_INDEX");
    snprintf(s->value, sizeof s->value, "%d", gid);
    snprintf(s->why, sizeof s->why, "the RoCE v2 address over IPv4, the same on every such port");
}

static void choose_efa(struct chooser *c, const struct fabric *f)
{
    if (!f->ofi_plugin)
        return;
    struct fabric_setting *s = add(c, "NCCL_NET_PLUGIN");
    snprintf(s->value, sizeof s->value, "%s", f->ofi_plugin);
    snprintf(s->why, sizeof s->why, "EFA speaks libfabric, which NCCL reaches through this plugin");
    s = add(c, "FI_PROVIDER");
    snprintf(s->value, sizeof s->value, "efa");
    snprintf(s->why, sizeof s->why,
             "libfabric's provider for EFA; without it, libfabric may take TCP");
}

static void choose_control(struct chooser *c, const struct fabric *f)
{
    const struct fabric_interface *i = fabric_control(f);
    if (!i)
        return;
    struct fabric_setting *s = add(c, "NCCL_SOCKET_IFNAME");
    snprintf(s->value, sizeof s->value, "=%s", i->name);
    snprintf(s->why, sizeof s->why,
             "connections are set up over it: it is up and has %s; '=' before the name: exactly "
             "this interface",
             i->default_route ? "the default route" : "an address");
    if (i->ipv4)
        return;
    s = add(c, "NCCL_SOCKET_FAMILY");
    snprintf(s->value, sizeof s->value, "AF_INET6");
    snprintf(s->why, sizeof s->why, "%s has IPv6 addresses alone", i->name);
    if (highest_rate(f, FABRIC_ROCE) > 0) {
        s = add(c, "NCCL_IB_ADDR_FAMILY");
        snprintf(s->value, sizeof s->value, "AF_INET");
        snprintf(s->why, sizeof s->why, "data still goes over RoCE's IPv4 addresses");
    }
}

size_t fabric_choose(const struct fabric *f, char *(*environment)(const char *name),
                     struct fabric_setting settings[FABRIC_SETTINGS_MAX])
{
    struct chooser c = {settings, 0, environment};
    if (highest_rate(f, FABRIC_EFA) > 0)
        choose_efa(&c, f);
    else if (highest_rate(f, FABRIC_INFINIBAND) > 0)
        choose_ports(&c, f, FABRIC_INFINIBAND);
    else if (highest_rate(f, FABRIC_ROCE) > 0) {
        choose_ports(&c, f, FABRIC_ROCE);
        choose_gid(&c, f);
    }
    choose_control(&c, f);
    return c.n;
}

/* ---- for a recording ---- */

static json_t *ports_json(const struct fabric *f)
{
    json_t *all = json_array();
    for (size_t i = 0; i < f->ports; i++) {
        const struct fabric_port *p = &f->port[i];
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:b, s:I}", "name", p->name, "kind",
                                             fabric_kind_name(p->kind), "pci", p->pci.address,
                                             "active", p->active, "rate_Bps", (json_int_t)p->rate));
    }
    return all;
}

/* Each GPU with the ports by their distance from it, nearest first: {"mlx5_0": "PIX", …}. */
static json_t *gpus_json(const struct fabric *f)
{
    json_t *all = json_array();
    size_t order[FABRIC_MAX];
    for (size_t g = 0; g < f->gpus; g++) {
        json_t *ports = json_object();
        fabric_order(f, &f->gpu[g], order);
        for (size_t i = 0; i < f->ports; i++) {
            const struct fabric_port *p = &f->port[order[i]];
            enum fabric_distance d = fabric_distance(&f->gpu[g], &p->pci);
            json_object_set_new(ports, p->name, json_string(fabric_distance_name(d)));
        }
        json_array_append_new(all,
                              json_pack("{s:s, s:o}", "pci", f->gpu[g].address, "ports", ports));
    }
    return all;
}

json_t *fabric_json(const struct fabric *f, const struct fabric_setting *settings, size_t n)
{
    json_t *j = json_object(), *would = json_array();
    const struct fabric_interface *control = fabric_control(f);
    json_object_set_new(j, "ports", ports_json(f));
    json_object_set_new(j, "gpus", gpus_json(f));
    if (control) {
        json_object_set_new(j, "control", json_string(control->name));
        json_object_set_new(j, "control_family", json_string(control->ipv4 ? "IPv4" : "IPv6"));
    }
    json_object_set_new(j, "gpudirect", json_boolean(f->gpudirect));
    if (f->ofi_plugin)
        json_object_set_new(j, "ofi_plugin", json_string(f->ofi_plugin));
    for (size_t i = 0; i < n; i++)
        json_array_append_new(would, json_pack("{s:s, s:s, s:b, s:s}", "name", settings[i].name,
                                               "value", settings[i].value, "kept", settings[i].kept,
                                               "why", settings[i].why));
    json_object_set_new(j, "settings", would);
    return j;
}
