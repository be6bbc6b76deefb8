/* SPDX-License-Identifier: Apache-2.0
 *
 * The network devices of this machine, and the NCCL settings that follow from them. They are read
 * from /sys and /proc below a root folder, so that tests can use another tree.
 *
 * Distances are those of `nvidia-smi topo -m`, from the paths in /sys/devices: PIX one PCIe switch,
 * PXB several switches, PHB a host bridge, NODE the same NUMA node, SYS another NUMA node.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define FABRIC_MAX 64

enum fabric_kind { FABRIC_INFINIBAND, FABRIC_ROCE, FABRIC_EFA };
enum fabric_distance { FABRIC_PIX, FABRIC_PXB, FABRIC_PHB, FABRIC_NODE, FABRIC_SYS };

struct fabric_pci {
    char address[16]; /* 0000:1b:00.0; "" if it is not a PCI device */
    char *path;       /* below /sys/devices, resolved */
    int numa;         /* -1: unknown */
};

struct fabric_port {
    char name[32]; /* mlx5_0 */
    enum fabric_kind kind;
    struct fabric_pci pci;
    bool active;
    double rate; /* bytes/s in one direction */
    int gid;     /* RoCE v2 with an IPv4 address; -1: none */
};

struct fabric_interface {
    char name[32];
    bool up, virtual, ipv4, ipv6, default_route;
};

struct fabric {
    struct fabric_pci gpu[FABRIC_MAX];
    struct fabric_port port[FABRIC_MAX];
    struct fabric_interface interface[FABRIC_MAX];
    size_t gpus, ports, interfaces;
    bool gpudirect;   /* nvidia_peermem or nv_peer_mem is loaded */
    char *ofi_plugin; /* libfabric's NCCL plugin, e.g. aws-ofi-nccl; NULL: none found */
};

/* root "": this machine. Missing devices are no error. */
void fabric_read(struct fabric *f, const char *root);
void fabric_free(struct fabric *f);

enum fabric_distance fabric_distance(const struct fabric_pci *a, const struct fabric_pci *b);
const char *fabric_distance_name(enum fabric_distance d);
const char *fabric_kind_name(enum fabric_kind k);
/* order[0..ports): the ports by distance to the GPU, nearest first, then by name. */
void fabric_order(const struct fabric *f, const struct fabric_pci *gpu, size_t *order);

/* The interface for NCCL's connections: up, not virtual, preferably with the default route; NULL:
 * none. */
const struct fabric_interface *fabric_control(const struct fabric *f);

/* One variable for NCCL, and the reason for its value. */
struct fabric_setting {
    const char *name;
    char value[FABRIC_MAX * 32 + 2], why[256]; /* every port's name fits */
    bool kept; /* the environment already sets the variable, and wins */
};
enum { FABRIC_SETTINGS_MAX = 8 };
/* Returns the number of settings, and sets no variable. `environment` is getenv or a test's. */
size_t fabric_choose(const struct fabric *f, char *(*environment)(const char *name),
                     struct fabric_setting settings[FABRIC_SETTINGS_MAX]);

/* Everything above, for a recording. */
json_t *fabric_json(const struct fabric *f, const struct fabric_setting *settings, size_t n);
