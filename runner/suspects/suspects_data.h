/* SPDX-License-Identifier: Apache-2.0
 *
 * What recordings of the plugin `pairs` say about ranks and their links: the time of each test on
 * each rank or pair in each block, what the ranks run on, and the readings of their GPUs.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* What a rank runs on, as means over the readings; these facts explain, and decide nothing. */
enum fact {
    FACT_THROTTLED, /* share of readings with a reason that slows */
    FACT_SM_HZ,
    FACT_MEMORY_HZ,
    FACT_TEMPERATURE_C,
    FACT_POWER_W,
    FACT_LANES,
    FACT_NVLINKS,
    FACT_NVLINK_ERRORS,
    FACT_OWN_CORES,
    FACTS
};

struct rank_facts {
    char *host;
    char *model; /* of the GPU; of the CPU where there is none */
    char *uuid;  /* of the GPU; "" */
    bool gpu;
    int index;            /* of the GPU on its host; rank of the host where none */
    struct words ways;    /* of PCIe to the other GPUs */
    struct words reasons; /* "hw_thermal", "power_cap" */
    double sum[FACTS], count[FACTS];
};

/* NaN: unknown. */
double suspects_fact(const struct rank_facts *r, enum fact k);

/* Do two ranks have the same host? */
bool suspects_same_host(const struct rank_facts *a, const struct rank_facts *b);
/* What kind of link joins them, so that only links of one kind are compared: "NVLink", "network".
 * The result is static or belongs to a. */
const char *suspects_link(const struct rank_facts *a, const struct rank_facts *b);

/* Route: between two hosts. */
enum suspect_kind { SUSPECT_RANK, SUSPECT_HOST, SUSPECT_LINK, SUSPECT_ROUTE };

enum { SUSPECT_KINDS = SUSPECT_ROUTE + 1 };

/* Tests of pairs have a value for each pair (a, b), a < b, at a * ranks + b, the others for each
 * rank. */
struct suspects_test {
    const char *metric, *name;
    bool pair;
};

enum { SUSPECTS_TESTS = 6 };

extern const struct suspects_test suspects_tests[SUSPECTS_TESTS];

struct suspects_data {
    char *platform, *run_id; /* of the first recording */
    char *params;            /* of the tests: "backend=host size=4MiB gemm=512" */
    size_t ranks, visits;
    int *launch;               /* of each visit (a block of a launch) */
    double *x[SUSPECTS_TESTS]; /* [visit * entities + entity], log seconds; NaN: none */
    bool *silent;              /* [a * ranks + b]: the pair did not answer */
    struct rank_facts *rank;
    struct words failed; /* "rank 0 with rank 1 (host n1): hang in sample: why" */
};

/* Adds a recording of the same ranks and params. GS_OK or reported. *d is zero before the first. */
int suspects_data_add(struct suspects_data *d, const char *dir);
/* GS_OK if the params of the recording `dir` are these; else reported. */
int suspects_data_alike(const struct suspects_data *d, const char *params, const char *dir);
void suspects_data_free(struct suspects_data *d);

size_t suspects_entities(const struct suspects_data *d, size_t test);

/* The values of a test in rows: its launches, as medians over their blocks; of a single launch, its
 * blocks. centred: less the median of all entities of the block, which takes drift away. The
 * caller frees *x. Returns the number of rows. */
size_t suspects_rows(const struct suspects_data *d, size_t test, bool centred, double **x);
