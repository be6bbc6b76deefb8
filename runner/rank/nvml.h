/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The PCI address of a local rank's GPU, "0000:41:00.0". False: no GPU or no NVML. */
bool nvml_pci_address(int local_rank, char *place, size_t n);
