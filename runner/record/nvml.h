/* SPDX-License-Identifier: Apache-2.0
 *
 * The NVIDIA management library: loaded where it is, and what it says of a GPU.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* ---- the library ---- */

/* Loads NVML at run time. The library comes with the driver, so gradsync neither links nor needs it
 * on machines without a GPU. The declarations follow nvml.h, whose ABI is stable. */

typedef struct nvmlDevice *nvml_device;

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
};

struct nvml_process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

/* NULL: this driver lacks the call (see NVML_ASK). */
struct nvml_calls {
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_index)(unsigned, nvml_device *);
    int (*by_uuid)(const char *, nvml_device *);
    int (*count)(unsigned *);
    int (*name)(nvml_device, char *, unsigned);
    int (*uuid)(nvml_device, char *, unsigned);
    int (*driver)(char *, unsigned);
    int (*cuda_driver)(int *);
    int (*clock)(nvml_device, int, unsigned *);
    int (*max_clock)(nvml_device, int, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*power)(nvml_device, unsigned *);
    int (*power_limit)(nvml_device, unsigned *);
    int (*throttle)(nvml_device, unsigned long long *);
    int (*memory)(nvml_device, struct nvml_memory *);
    int (*pcie_generation)(nvml_device, unsigned *);
    int (*pcie_width)(nvml_device, unsigned *);
    int (*link_state)(nvml_device, unsigned, unsigned *);
    int (*link_version)(nvml_device, unsigned, unsigned *);
    int (*ancestor)(nvml_device, nvml_device, int *);
    int (*pci)(nvml_device, struct nvml_pci *);
    int (*link_errors)(nvml_device, unsigned, int, unsigned long long *);
    int (*processes)(nvml_device, unsigned *, struct nvml_process *);
};

struct nvml {
    void *library;
    struct nvml_calls call;
    nvml_device device;
    int index; /* index among the CUDA devices that this rank sees */
};

/* Calls the function; an error (not 0) if the driver lacks it. */
#define NVML_ASK(call, ...) ((call) ? (call)(__VA_ARGS__) : 1)

#define NVML_NO_RANK (-1)
/* Opens the device that CUDA gives this local rank; NVML_NO_RANK: none yet. NULL: no NVML, or no such
 * device. */
struct nvml *nvml_load(int local_rank);
void nvml_unload(struct nvml *n);

/* ---- a GPU ---- */

/* Constant facts: {index, name, uuid, driver, cuda_driver, memory_B, ...}. */
json_t *nvml_gpu_facts(const struct nvml *n);
/* Conditions that may disturb a measurement: {sm_Hz, temperature_C, power_W, throttle, ...}. */
json_t *nvml_gpu_now(const struct nvml *n);

#define NVML_PROGRAMS_MAX 64
/* Programs that compute on the GPU, without the server of MPS; 0: none, or the driver does not tell. */
size_t nvml_gpu_programs(const struct nvml *n, struct nvml_process found[NVML_PROGRAMS_MAX]);
