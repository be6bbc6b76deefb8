/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_samples.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE (SAMPLES_HELD * sizeof(uint64_t))

static const char *folder(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/var/tmp"; /* /tmp may be memory */
}

static int cannot(const char *what)
{
    return fail(GS_FAILED, "import: samples cannot be %s %s: %s; TMPDIR names another folder", what,
                folder(), strerror(errno));
}

static int spill_open(struct spill *s)
{
    char *path = xstrfmt("%s/gradsync-import.XXXXXX", folder());
    s->fd = mkstemp(path);
    if (s->fd >= 0)
        unlink(path);
    free(path);
    return s->fd >= 0 ? GS_OK : cannot("held in");
}

void spill_close(struct spill *s)
{
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct spill){.fd = -1};
}

static int put_away(struct samples *x, struct spill *s)
{
    const char *bytes = (const char *)x->v;
    if (s->fd < 0 && spill_open(s))
        return GS_FAILED;
    for (size_t done = 0; done < PIECE;) {
        ssize_t n =
            pwrite(s->fd, bytes + done, PIECE - done, (off_t)(s->size * sizeof *x->v + done));
        if (n < 0 && errno != EINTR)
            return cannot("held in");
        done += n > 0 ? (size_t)n : 0;
    }
    if (!(x->n_spilled & (x->n_spilled - 1)))
        x->spilled =
            xrealloc(x->spilled, (x->n_spilled ? 2 * x->n_spilled : 1) * sizeof *x->spilled);
    x->spilled[x->n_spilled++] = s->size;
    s->size += SAMPLES_HELD;
    x->held = 0;
    return GS_OK;
}

int samples_add(struct samples *x, struct spill *s, uint64_t value)
{
    if (x->held == SAMPLES_HELD && put_away(x, s))
        return GS_FAILED;
    if (x->held == x->cap) {
        x->cap = x->cap ? 2 * x->cap : 1;
        x->v = xrealloc(x->v, x->cap * sizeof *x->v);
    }
    x->v[x->held++] = value;
    x->n++;
    return GS_OK;
}

int samples_piece(const struct samples *x, const struct spill *s, uint64_t from, uint64_t *buf,
                  const uint64_t **out)
{
    size_t i = (size_t)(from / SAMPLES_HELD);
    if (from >= x->n)
        return 0;
    if (i == x->n_spilled) {
        *out = x->v;
        return (int)x->held;
    }
    for (size_t done = 0; done < PIECE;) {
        ssize_t n = pread(s->fd, (char *)buf + done, PIECE - done,
                          (off_t)(x->spilled[i] * sizeof *buf + done));
        if (n == 0)
            errno = EIO;
        if (n <= 0 && errno != EINTR)
            return cannot("read again from"), -1;
        done += n > 0 ? (size_t)n : 0;
    }
    *out = buf;
    return (int)SAMPLES_HELD;
}

void samples_free(struct samples *x)
{
    free(x->v);
    free(x->spilled);
    *x = (struct samples){0};
}
