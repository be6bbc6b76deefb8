/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/cut.h"

#include <string.h>

static size_t find(struct cut *c, const char *host, size_t length)
{
    size_t i = 0;
    while (i < c->n && (strncmp(c->host[i], host, length) || c->host[i][length]))
        i++;
    if (i < c->n)
        return i;
    if (i == CUT_HOSTS || length == 0 || length >= sizeof c->host[i])
        return CUT_HOSTS;
    memcpy(c->host[i], host, length);
    return c->n++;
}

void cut_add(struct cut *c, const char *host, const char *lost)
{
    size_t from = find(c, host, strlen(host));
    while (from < CUT_HOSTS && *lost) {
        size_t length = strcspn(lost, " "), to = find(c, lost, length);
        if (to < CUT_HOSTS && to != from)
            c->apart[from][to] = c->apart[to][from] = true;
        lost += length + (lost[length] == ' ');
    }
}

static size_t degree(const struct cut *c, size_t i)
{
    size_t n = 0;
    for (size_t j = 0; j < c->n; j++)
        n += c->apart[i][j];
    return n;
}

/* The host that has lost most others, and more than each of them has; CUT_HOSTS: there is none. */
static size_t most_cut(const struct cut *c)
{
    size_t most = 0;
    for (size_t i = 1; i < c->n; i++)
        if (degree(c, i) > degree(c, most))
            most = i;
    bool alone = degree(c, most) > 1;
    for (size_t j = 0; j < c->n; j++)
        alone = alone && !(c->apart[most][j] && degree(c, j) == degree(c, most));
    return alone ? most : CUT_HOSTS;
}

static void tell_host(struct cut *c, size_t i, struct text *t)
{
    text_addf(t, "%s%s is cut off: no answer between it and ", t->len ? "; " : "", c->host[i]);
    const char *comma = "";
    for (size_t j = 0; j < c->n; j++) {
        if (!c->apart[i][j])
            continue;
        text_addf(t, "%s%s", comma, c->host[j]);
        c->apart[i][j] = c->apart[j][i] = false;
        comma = ", ";
    }
}

static size_t tell_pairs(const struct cut *c, struct text *t)
{
    size_t first = CUT_HOSTS;
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = i + 1; j < c->n; j++)
            if (c->apart[i][j]) {
                first = first < CUT_HOSTS ? first : i;
                bool swap = strcmp(c->host[i], c->host[j]) > 0;
                text_addf(t, "%sno answer between %s and %s", t->len ? "; " : "",
                          c->host[swap ? j : i], c->host[swap ? i : j]);
            }
    return first;
}

const char *cut_judge(struct cut *c, struct text *t)
{
    size_t first = CUT_HOSTS;
    for (size_t i; (i = most_cut(c)) < CUT_HOSTS; first = first < CUT_HOSTS ? first : i)
        tell_host(c, i, t);
    size_t apart = tell_pairs(c, t);
    return c->host[first < CUT_HOSTS ? first : apart];
}
