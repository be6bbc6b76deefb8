/* SPDX-License-Identifier: Apache-2.0 */
#include "train/train_output.h"

#include "base/files.h"
#include "base/secrets.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD_B (64 << 10) /* of the start of the output in the log, and as much of its end */
#define LINE_B (64 << 10) /* a longer line is cut into several */
#define SECRET_B 6        /* shorter values are too common in any text */

/* ---- the log ---- */

/* Replaces a secret in place, which may leave the line shorter. */
static void hide(char *line, const char *secret)
{
    static const char hidden[] = "(hidden)";
    size_t n = strlen(secret);
    for (char *at = line; (at = strstr(at, secret));) {
        size_t m = n < sizeof hidden - 1 ? n : sizeof hidden - 1;
        memcpy(at, hidden, m);
        memmove(at + m, at + n, strlen(at + n) + 1);
        at += m;
    }
}

static void hide_secrets(char *line)
{
    for (char *const *e = environ; *e; e++) {
        size_t n = strcspn(*e, "=");
        if ((*e)[n] && strlen(*e + n + 1) >= SECRET_B && secrets_name(*e, n))
            hide(line, *e + n + 1);
    }
}

/* A full disk costs the log, not the measurement. */
static void to_log(struct train_output *o, const char *line)
{
    size_t n = strlen(line);
    if (o->logged + n < HEAD_B) {
        files_write_all(o->log, line, n);
        files_write_all(o->log, "\n", 1);
        o->logged += n + 1;
        return;
    }
    o->logged = HEAD_B; /* from here on, to the end */
    text_addn(&o->tail, line, n);
    text_add(&o->tail, "\n");
    size_t over = o->tail.len > HEAD_B ? o->tail.len - HEAD_B : 0;
    if (over < HEAD_B)
        return;
    o->left_out += over;
    memmove(o->tail.s, o->tail.s + over, o->tail.len - over + 1);
    o->tail.len -= over;
}

/* ---- lines ---- */

static double unix_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Lines of dashes or digits alone give no reason. Bytes of UTF-8 count as letters. */
static bool has_letter(const char *s)
{
    while (*s && !isalpha((unsigned char)*s) && !(*s & 0x80))
        s++;
    return *s;
}

static void take_line(struct train_output *o)
{
    text_add(&o->line, "");
    char *line = o->line.s;
    hide_secrets(line);
    AUTO_FREE char *shown = secrets_hidden(line);
    to_log(o, shown);
    const char *from = shown + strspn(shown, " \t");
    bool words = has_letter(from);
    if (*from && (words || !o->has_words)) {
        snprintf(o->last, sizeof o->last, "%s", from);
        o->has_words = words;
    }
    if (o->times)
        train_times_line(o->times, line, unix_time());
    job_watch_line(o->job, line);
    text_clear(&o->line);
}

void train_output_take(void *ctx, const char *bytes, size_t n)
{
    struct train_output *o = ctx;
    for (size_t i = 0; i < n; i++) {
        bool end = bytes[i] == '\n' || bytes[i] == '\r'; /* a progress bar returns */
        bool second = bytes[i] == '\n' && o->before == '\r';
        o->before = bytes[i];
        if (!end && bytes[i])
            text_addn(&o->line, bytes + i, 1);
        if ((end && !second) || o->line.len >= LINE_B)
            take_line(o);
    }
}

void train_output_meanwhile(void *ctx)
{
    const struct train_output *o = ctx;
    job_watch_look(o->job);
}

void train_output_end(struct train_output *o)
{
    if (o->line.len)
        take_line(o);
    AUTO_FREE char *gap = xstrfmt("... %zu bytes left out ...\n", o->left_out);
    if (o->left_out)
        files_write_all(o->log, gap, strlen(gap));
    if (o->tail.len)
        files_write_all(o->log, o->tail.s, o->tail.len);
}

void train_output_free(struct train_output *o)
{
    text_free(&o->line);
    text_free(&o->tail);
}
