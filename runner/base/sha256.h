/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 checksums, by the instructions of the CPU where it has them, otherwise by libsodium.
 */
#pragma once

#include <stddef.h>

struct sha256;
struct sha256 *sha256_begin(void);
void sha256_add(struct sha256 *s, const void *data, size_t n);
void sha256_end(struct sha256 *s, char hex[65]); /* frees it */

void sha256_hex(const void *data, size_t n, char hex[65]);
int sha256_file(const char *path, char hex[65]); /* GS_OK or GS_FAILED, reported */
