/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job_output.h"

#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "wan/watch.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void job_times_free(struct job_times *t)
{
    if (t->known)
        watch_lines_free(t->known);
    free(t->v);
}

#define HEAD_B (64 << 10) /* of the start of the output in the log, and as much of its end */
#define LINE_B (64 << 10) /* a longer line is cut into several */

/* ---- the log ---- */

/* A full disk costs the log, not the measurement. */
static void to_log(struct job_output *o, const char *line)
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

static void take_times(struct job_times *t, char *line)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    watch_clean(line, strlen(line));
    if (!t->known)
        t->known = watch_lines_new(NULL);
    struct watch_values v = watch_lines_read(t->known, line);
    t->n = v.restart ? 0 : t->n; /* it was loading until here */
    if (v.step_s > 0)
        APPEND(t->v, t->n) = (struct job_step){(uint64_t)llround(v.step_s * 1e9),
                                               (double)now.tv_sec + (double)now.tv_nsec * 1e-9};
}

/* Lines of dashes or digits alone give no reason. Bytes of UTF-8 count as letters. */
static bool has_letter(const char *s)
{
    while (*s && !isalpha((unsigned char)*s) && !(*s & 0x80))
        s++;
    return *s;
}

/* Why a launcher started nothing, where its own words need a remedy. */
static const char *advice_about(const char *line)
{
    static const struct {
        const char *has, *advice;
    } known[] = {
        {"--allow-run-as-root option",
         "Open MPI does not start as root: type mpirun --allow-run-as-root"},
        {"not enough slots available",
         "Open MPI starts no more ranks than processors: ask for fewer, or type mpirun "
         "--oversubscribe"},
        {"could not find anything to do", "mpirun was given no program"},
        {"unable to find the specified executable", "mpirun did not find the program"},
        {"unable to launch the specified application", "mpirun cannot start the program"},
    };
    for (size_t i = 0; i < COUNT(known); i++)
        if (strstr(line, known[i].has))
            return known[i].advice;
    return NULL;
}

/* Open MPI frames what it says with lines of dashes. Its first paragraph says what is wrong, and counts as one line; that a
 * process ended with a code is known without it, and an internal error follows from another one. True: the line belongs to such a message. */
static bool take_message(struct job_output *o, const char *line)
{
    static const char *const first[] = {
        "mpirun ",      "Open RTE ",          "MPI_ABORT ",
        "Primary job ", "An internal error ", "There are not enough slots "};
    bool dashes = !strncmp(line, "-----", 5), begins = false;
    for (size_t i = 0; i < COUNT(first) && o->dashes; i++)
        begins = begins || !strncmp(line, first[i], strlen(first[i]));
    o->dashes = dashes;
    if (dashes || (!begins && o->message == NO_MESSAGE)) {
        o->message = NO_MESSAGE;
        return dashes;
    }
    if (!*line || !strncmp(line, "Primary job ", 12) || !strncmp(line, "An internal error ", 18) ||
        strstr(line, "processes exited with non-zero status")) {
        o->message = REST;
    } else if (begins) {
        o->message = PARAGRAPH;
        o->last[0] = '\0';
        o->has_words = true;
    }
    size_t n = strlen(o->last);
    if (o->message == PARAGRAPH)
        snprintf(o->last + n, sizeof o->last - n, "%s%s", n ? " " : "", line);
    return true;
}

/* "RuntimeError: ...", "error: ...", "x.py: error: ...". What a job prints while it ends comes after it. */
static bool names_error(const char *line)
{
    return strstr(line, "Error: ") || strstr(line, "Exception: ") || strstr(line, "error: ");
}

static void take_line(struct job_output *o)
{
    text_add(&o->line, "");
    char *line = o->line.s;
    AUTO_FREE char *shown = secrets_hidden_log(line);
    to_log(o, shown);
    const char *from = shown + strspn(shown, " \t");
    bool words = has_letter(from), message = take_message(o, from);
    if (*from && !message && (words || !o->has_words)) {
        snprintf(o->last, sizeof o->last, "%s", from);
        o->has_words = words;
    }
    if (!*o->error && !message && names_error(from))
        snprintf(o->error, sizeof o->error, "%s", from);
    o->advice = o->advice ? o->advice : advice_about(from);
    if (o->times)
        take_times(o->times, line);
    text_clear(&o->line);
}

void job_output_take(void *ctx, const char *bytes, size_t n)
{
    struct job_output *o = ctx;
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

void job_output_end(struct job_output *o)
{
    if (o->line.len)
        take_line(o);
    AUTO_FREE char *gap = xstrfmt("... %zu bytes left out ...\n", o->left_out);
    if (o->left_out)
        files_write_all(o->log, gap, strlen(gap));
    if (o->tail.len)
        files_write_all(o->log, o->tail.s, o->tail.len);
}

char *job_output_reason(const struct job_output *o)
{
    if (o->advice)
        return xstrfmt("; %s", o->advice);
    if (*o->error && !names_error(o->last))
        return xstrfmt("; its first error: %s", o->error);
    return xstrfmt("%s%s", *o->last ? "; its last line: " : "", o->last);
}

void job_output_free(struct job_output *o)
{
    text_free(&o->line);
    text_free(&o->tail);
}
