/* SPDX-License-Identifier: Apache-2.0
 *
 * The network devices of this machine, and the NCCL settings that follow from them. They are read
 * from /sys and /proc below a root folder, so that tests can use another tree.
 */
#pragma once

#include <jansson.h>

/* {ports: [{name, kind, pci, active, rate_Bps}], gpus: [{pci}], control, gpudirect, ofi_plugin,
 * settings: [{name, value, kept, why}]}, as recordings have it. `control` is the interface for NCCL's
 * connections, and missing if there is none; `kept` means that the environment sets the variable
 * already, and wins. root "": this machine. */
json_t *fabric_json(const char *root);
