/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/tcp_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_FILE_MIN 16
#define SECRET_FILE_MAX 4096

static const char context[crypto_kdf_CONTEXTBYTES] = "gsyncWAN";
enum { FOR_HELLO = 1, FOR_CONNECTIONS };

_Static_assert(TCP_KEY_B == crypto_kx_SESSIONKEYBYTES, "all keys have one size");
_Static_assert(TCP_KEY_B == crypto_kdf_KEYBYTES, "all keys have one size");
_Static_assert(TCP_KEY_B == crypto_kx_PUBLICKEYBYTES, "all keys have one size");
_Static_assert(TCP_KEY_B == crypto_kx_SECRETKEYBYTES, "all keys have one size");

static int read_checked(int fd, uint8_t *buf, size_t *n, const char *path, char *why, size_t size)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        snprintf(why, size, "secret_file: %s: not a file", path);
        return -1;
    }
    if (st.st_mode & 077) {
        snprintf(why, size, "secret_file: %s: others can read it (mode %04o): chmod 600", path,
                 (unsigned)st.st_mode & 07777);
        return -1;
    }
    ssize_t got = read(fd, buf, SECRET_FILE_MAX + 1);
    if (got < SECRET_FILE_MIN || got > SECRET_FILE_MAX) {
        snprintf(why, size, "secret_file: %s: allowed are %d to %d bytes", path, SECRET_FILE_MIN,
                 SECRET_FILE_MAX);
        return -1;
    }
    *n = (size_t)got;
    return 0;
}

static int read_file(uint8_t key[TCP_KEY_B], const char *path, char *why, size_t size)
{
    uint8_t buf[SECRET_FILE_MAX + 1];
    size_t n = 0;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        snprintf(why, size, "secret_file: %s: %s", path, strerror(errno));
        return -1;
    }
    int rc = read_checked(fd, buf, &n, path, why, size);
    if (!rc)
        crypto_generichash(key, TCP_KEY_B, buf, n, NULL, 0);
    sodium_memzero(buf, sizeof buf);
    close(fd);
    return rc;
}

int tcp_keys_make(struct tcp_own_keys *own, const char *secret_file, char *why, size_t size)
{
    randombytes_buf(own->public.job, sizeof own->public.job);
    crypto_kx_keypair(own->public.key, own->private);
    own->has_file = secret_file[0];
    return own->has_file ? read_file(own->file, secret_file, why, size) : 0;
}

int tcp_keys_pair(const struct tcp_own_keys *own, int me, const struct tcp_public *of, int peer,
                  struct tcp_pair_keys *out)
{
    struct {
        uint8_t job[sizeof out->hello.job], up[TCP_KEY_B], down[TCP_KEY_B]; /* by rank */
        uint32_t low, high;
    } all = {.low = (uint32_t)(me < peer ? me : peer), .high = (uint32_t)(me < peer ? peer : me)};
    uint8_t key[TCP_KEY_B];
    int rc = me < peer ? crypto_kx_server_session_keys(all.up, all.down, own->public.key,
                                                       own->private, of->key)
                       : crypto_kx_client_session_keys(all.down, all.up, own->public.key,
                                                       own->private, of->key);
    memcpy(all.job, out->hello.job, sizeof all.job);
    crypto_generichash(key, sizeof key, (const uint8_t *)&all, sizeof all,
                       own->has_file ? own->file : NULL, own->has_file ? sizeof own->file : 0);
    crypto_kdf_derive_from_key(out->hello.key, sizeof out->hello.key, FOR_HELLO, context, key);
    crypto_kdf_derive_from_key(out->connections, TCP_KEY_B, FOR_CONNECTIONS, context, key);
    sodium_memzero(key, sizeof key);
    sodium_memzero(&all, sizeof all);
    return rc;
}

void tcp_keys_connection(const struct tcp_pair_keys *pair, const struct tcp_call *call,
                         const struct tcp_answer *answer, bool calls, unsigned purpose,
                         struct tcp_ways *out)
{
    uint8_t key[TCP_KEY_B];
    crypto_generichash_state h;
    crypto_generichash_init(&h, pair->connections, TCP_KEY_B, sizeof key);
    crypto_generichash_update(&h, (const uint8_t *)call, sizeof *call);
    crypto_generichash_update(&h, (const uint8_t *)answer, sizeof *answer);
    crypto_generichash_final(&h, key, sizeof key);
    crypto_kdf_derive_from_key(calls ? out->out : out->in, TCP_KEY_B, 2 * purpose, context, key);
    crypto_kdf_derive_from_key(calls ? out->in : out->out, TCP_KEY_B, 2 * purpose + 1, context,
                               key);
    sodium_memzero(key, sizeof key);
    sodium_memzero(&h, sizeof h);
}
