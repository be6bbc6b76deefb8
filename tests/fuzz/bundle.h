/* SPDX-License-Identifier: Apache-2.0
 *
 * What every target includes. An input may be a folder of files, for readers of whole folders: each
 * file follows a line "== NAME".
 */
#pragma once

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char bundle[64]; /* the folder, in memory */
static char bundle_error[1024];

static inline int bundle_remove(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s, (void)type;
    return f->level ? remove(path) : 0;
}

/* A relative path of plain words, which leads nowhere else. */
static inline bool bundle_name(const char *s, size_t n)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    if (n == 0 || n > 60 || *s == '/' || memmem(s, n, "..", 2))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!memchr(plain, s[i], sizeof plain - 1))
            return false;
    return true;
}

static inline void bundle_file(const char *name, size_t name_n, const char *bytes, size_t n)
{
    char *path = xstrfmt("%s/%.*s", bundle, (int)name_n, name);
    free(files_make_above(path));
    FILE *f = fopen(path, "we");
    if (f) { /* else its name is that of a folder */
        fwrite(bytes, 1, n, f);
        fclose(f);
    }
    free(path);
}

/* Writes the files of the input into an empty folder. From now on errors are in bundle_error, and
 * stdout goes nowhere. */
static inline const char *bundle_open(const uint8_t *data, size_t n)
{
    if (!*bundle) {
        const char *in = getenv("GRADSYNC_FUZZ_FOLDER"); /* tests/fuzz/run removes it */
        snprintf(bundle, sizeof bundle, "%s/bundle-%ld", in ? in : ".", (long)getpid());
        mkdir(bundle, 0700);
        if (!freopen("/dev/null", "w", stdout))
            abort();
    }
    nftw(bundle, bundle_remove, 16, FTW_DEPTH | FTW_PHYS);
    *bundle_error = '\0';
    err_capture(bundle_error, sizeof bundle_error);
    say_quiet(1);
    const char *s = data ? (const char *)data : "", *end = s + n;
    while (end - s > 3 && !memcmp(s, "== ", 3)) {
        const char *name = s + 3, *line = memchr(name, '\n', (size_t)(end - name));
        if (!line)
            break;
        const char *next = memmem(line, (size_t)(end - line), "\n== ", 4);
        const char *stop = next ? next + 1 : end;
        if (bundle_name(name, (size_t)(line - name)))
            bundle_file(name, (size_t)(line - name), line + 1, (size_t)(stop - line - 1));
        s = stop;
    }
    return bundle;
}

static inline void bundle_close(void)
{
    err_capture(NULL, 0);
}

/* A failure that is not reported. */
static inline void bundle_reported(int code)
{
    if (code && !*bundle_error)
        abort();
}
