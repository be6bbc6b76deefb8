/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "launch/fabric.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <stdlib.h>

static void show_ports(const struct fabric *f)
{
    if (!f->ports)
        printf("ports      none: NCCL uses sockets between machines\n");
    for (size_t i = 0; i < f->ports; i++) {
        const struct fabric_port *p = &f->port[i];
        printf("%-10s %-12s %-10s %4.0f Gbit/s  %-8s %s", i ? "" : "ports", p->name,
               fabric_kind_name(p->kind), p->rate * 8e-9, p->active ? "active" : "down",
               *p->pci.address ? p->pci.address : "no PCI device");
        if (p->pci.numa >= 0)
            printf("  NUMA %d", p->pci.numa);
        printf("\n");
    }
}

/* Each GPU with its ports, the nearest first. */
static void show_order(const struct fabric *f)
{
    size_t order[FABRIC_MAX];
    if (!f->gpus)
        printf("GPUs       none\n");
    for (size_t g = 0; g < f->gpus; g++) {
        printf("%-10s %s ", g ? "" : "GPUs", f->gpu[g].address);
        if (f->gpu[g].numa >= 0)
            printf(" NUMA %d ", f->gpu[g].numa);
        fabric_order(f, &f->gpu[g], order);
        for (size_t i = 0; i < f->ports; i++) {
            const struct fabric_port *p = &f->port[order[i]];
            printf("%s %s %s", i ? "," : "", p->name,
                   fabric_distance_name(fabric_distance(&f->gpu[g], &p->pci)));
        }
        printf("\n");
    }
}

static void show_rest(const struct fabric *f)
{
    const struct fabric_interface *c = fabric_control(f);
    if (c)
        printf("control    %s, %s%s\n", c->name,
               c->ipv4 && c->ipv6 ? "IPv4 and IPv6"
               : c->ipv4          ? "IPv4"
                                  : "IPv6",
               c->default_route ? ", default route" : "");
    else
        printf("control    no interface is up with an address\n");
    printf("GPUDirect  %s\n", f->gpudirect ? "nvidia_peermem is loaded"
                                           : "no peer-memory module is loaded (DMA-BUF may work)");
    bool efa = false;
    for (size_t i = 0; i < f->ports; i++)
        efa = efa || f->port[i].kind == FABRIC_EFA;
    if (efa && f->ofi_plugin)
        printf("EFA        plugin %s\n", f->ofi_plugin);
    else if (efa)
        printf("EFA        no libfabric plugin for NCCL found: NCCL uses sockets; install "
               "aws-ofi-nccl\n");
}

static void show_settings(const struct fabric_setting *s, size_t n)
{
    if (!n)
        printf("would set  nothing\n");
    for (size_t i = 0; i < n; i++) {
        printf("%-10s %s=%s\n", i ? "" : "would set", s[i].name, s[i].value);
        if (s[i].kept)
            printf("%-10s   already set in the environment: %s\n", "", getenv(s[i].name));
        else
            printf("%-10s   %s\n", "", s[i].why);
    }
}

int machine_check(const char *root, bool json)
{
    if (root && !files_is_folder(root))
        return fail(GS_USAGE, "check: --root %s: not a folder", root);
    AUTO(fabric_free) struct fabric f = {0};
    struct fabric_setting settings[FABRIC_SETTINGS_MAX];
    AUTO_FREE char *real = root ? realpath(root, NULL) : xstrdup("");
    fabric_read(&f, real);
    size_t chosen = fabric_choose(&f, getenv, settings);
    if (json) {
        AUTO_JSON json_t *j = fabric_json(&f, settings, chosen);
        json_print(j, JSON_INDENT(2));
    } else {
        show_ports(&f);
        show_order(&f);
        show_rest(&f);
        show_settings(settings, chosen);
    }
    return GS_OK;
}
