/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "launch/launcher.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show_devices(const json_t *fabric)
{
    const json_t *ports = json_object_get(fabric, "ports"), *gpus = json_object_get(fabric, "gpus");
    const char *control = json_text_of(fabric, "control"),
               *plugin = json_text_of(fabric, "ofi_plugin");
    bool efa = false;
    if (!json_array_size(ports))
        printf("ports      none: NCCL uses sockets between machines\n");
    for (size_t i = 0; i < json_array_size(ports); i++) {
        const json_t *one = json_array_get(ports, i);
        const char *pci = json_text_of(one, "pci"), *kind = json_text_of(one, "kind");
        printf("%-10s %-12s %-10s %4.0f Gbit/s  %-8s %s\n", i ? "" : "ports",
               json_text_of(one, "name"), kind, (double)json_integer_of(one, "rate_Bps") * 8e-9,
               json_is_true(json_object_get(one, "active")) ? "active" : "down",
               *pci ? pci : "no PCI device");
        efa = efa || !strcmp(kind, "EFA");
    }
    if (!json_array_size(gpus))
        printf("GPUs       none\n");
    for (size_t i = 0; i < json_array_size(gpus); i++)
        printf("%-10s %s\n", i ? "" : "GPUs", json_text_of(json_array_get(gpus, i), "pci"));
    printf("control    %s%s%s\n", *control ? control : "no interface is up with an address",
           *control ? ", " : "", json_text_of(fabric, "control_family"));
    printf("GPUDirect  %s\n", json_is_true(json_object_get(fabric, "gpudirect"))
                                  ? "nvidia_peermem is loaded"
                                  : "no peer-memory module is loaded (DMA-BUF may work)");
    if (efa && *plugin)
        printf("EFA        plugin %s\n", plugin);
    else if (efa)
        printf("EFA        no libfabric plugin for NCCL found: NCCL uses sockets; install "
               "aws-ofi-nccl\n");
}

int machine_check(const char *root)
{
    if (root && !files_is_folder(root))
        return fail(GS_USAGE, "check: --root %s: not a folder", root);
    AUTO_FREE char *real = root ? realpath(root, NULL) : xstrdup("");
    AUTO_JSON json_t *fabric = fabric_json(real);
    const json_t *settings = json_object_get(fabric, "settings");
    show_devices(fabric);
    if (!json_array_size(settings))
        printf("would set  nothing\n");
    for (size_t i = 0; i < json_array_size(settings); i++) {
        const json_t *s = json_array_get(settings, i);
        bool kept = json_is_true(json_object_get(s, "kept"));
        const char *name = json_text_of(s, "name");
        printf("%-10s %s=%s\n%-10s   %s%s\n", i ? "" : "would set", name, json_text_of(s, "value"),
               "", kept ? "already set in the environment: " : "",
               kept ? getenv(name) : json_text_of(s, "why"));
    }
    return GS_OK;
}
