/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
