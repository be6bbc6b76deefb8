/* SPDX-License-Identifier: Apache-2.0
 *
 * What NVML says of a GPU: model, links, driver, clocks, and the programs on it.
 */
#pragma once

#include "record/nvml_library.h"

#include <jansson.h>
#include <stddef.h>

/* Constant facts: {index, name, uuid, driver, cuda_driver, memory_B, ...}. */
json_t *nvml_gpu_facts(const struct nvml *n);
/* Conditions that may disturb a measurement: {sm_Hz, temperature_C, power_W, throttle, ...}. */
json_t *nvml_gpu_now(const struct nvml *n);

#define NVML_PROGRAMS_MAX 64
/* Programs that compute on the GPU; 0: none, or the driver does not tell. */
size_t nvml_gpu_programs(const struct nvml *n, struct nvml_process found[NVML_PROGRAMS_MAX]);
