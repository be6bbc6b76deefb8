/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Fewer letters are part of too many names. */
#define PART_MIN 3

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters to change, add, drop or swap with their neighbour; by rows, names are short. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(b);
    if (n > 127)
        return SIZE_MAX;
    size_t before[128], last[128] = {0}, row[128]; /* before, last: the rows above */
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        memcpy(before, last, sizeof before);
        memcpy(last, row, sizeof last);
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(last[j] + 1, row[j - 1] + 1);
            row[j] = least(row[j], last[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[n];
}

const char *text_nearest_row(const char *word, const void *first, size_t n, size_t row_size)
{
    const char *best = NULL, *part = NULL;
    size_t best_distance = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        const char *candidate = *(const char *const *)((const char *)first + i * row_size);
        size_t d = distance(word, candidate);
        /* Something must be common: 'x' is not like 'n'. */
        if (d < best_distance && d < strlen(word) && d <= 1 + strlen(candidate) / 5) {
            best = candidate;
            best_distance = d;
        }
        if (!part && strlen(word) >= PART_MIN && strstr(candidate, word))
            part = candidate;
    }
    return best ? best : part;
}

const char *text_nearest(const char *word, const char *const *candidates, size_t n)
{
    return text_nearest_row(word, candidates, n, sizeof *candidates);
}

const char *text_did_you_mean(char *buf, size_t size, const char *open, const char *near,
                              const char *close)
{
    *buf = '\0';
    if (near)
        snprintf(buf, size, ", did you mean %s%s%s?", open, near, close);
    return buf;
}
