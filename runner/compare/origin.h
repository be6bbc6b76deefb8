/* SPDX-License-Identifier: Apache-2.0
 *
 * The origin of a recording: software, hosts, devices and tuning variables, as far as they can change a
 * time. Launches of different origins are not compared as launches of one config. Also compares the
 * parameters of cells, texts "key=value key=value", without some of the keys.
 */
#pragma once

#include "record/recorded.h"

/* The parameters of a config; ends with NULL. */
extern const char *const alike_config[];

/* The words of params whose key is not one of `keys`, in their order; the caller frees them. */
char *alike_without(const char *params, const char *const *keys);

/* The origin of every file in a run's ledger: lines "KEY VALUE", "" for a recording without a header.
 * Equal texts mean equal origins; of_file has indices into texts. */
struct origins {
    char **texts;
    size_t n;
    size_t *of_file;
};
void origins_of_run(struct origins *out, const struct recorded *r);
void origins_free(struct origins *o);

/* The origin of the recording whose blocks of the group count in this launch; o->n: none. */
size_t origins_of(const struct origins *o, const struct recorded *r, size_t group, int launch);

/* "nccl 2.28.3 | 2.29.1, hosts a | b"; "": no difference. The caller frees it. */
char *origin_difference(const char *a, const char *b);
