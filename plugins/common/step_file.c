/* SPDX-License-Identifier: Apache-2.0 */

#include "common/step_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WORDS_MAX 8

static const struct kind {
    const char *name;
    unsigned least, most; /* words after the name */
    const char *usage;
} kinds[] = {
    [STEP_GEMM] = {"gemm", 5, 6, "gemm nn|nt|tn|tt M N K DTYPE [xCOUNT]"},
    [STEP_KERNEL] = {"kernel", 2, 2, "kernel BYTES TIME, e.g. kernel 4096 3.1us"},
    [STEP_GRADIENT] = {"gradient", 2, 2, "gradient ELEMENTS DTYPE"},
    [STEP_ALL_REDUCE] = {"all_reduce", 3, 3, "all_reduce ELEMENTS DTYPE GROUP"},
    [STEP_ALL_GATHER] = {"all_gather", 3, 3, "all_gather ELEMENTS DTYPE GROUP"},
    [STEP_REDUCE_SCATTER] = {"reduce_scatter", 3, 3, "reduce_scatter ELEMENTS DTYPE GROUP"},
    [STEP_WAIT] = {"wait", 0, 1, "wait [PENDING]"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct reader {
    struct step_file *f;
    const char *name;
    unsigned line;
    size_t cap;
    uint64_t collectives; /* lines so far */
    bool gradients;       /* there were lines of them */
    char *why;
    size_t why_size;
};

const char *step_kind_name(enum step_kind kind)
{
    return kinds[kind].name;
}

bool step_is_collective(enum step_kind kind)
{
    return kind == STEP_ALL_REDUCE || kind == STEP_ALL_GATHER || kind == STEP_REDUCE_SCATTER;
}

static bool wrong(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(struct reader *r, const char *fmt, ...)
{
    va_list args;
    int at = snprintf(r->why, r->why_size, "%s:%u: ", r->name, r->line);
    va_start(args, fmt);
    if (at > 0 && (size_t)at < r->why_size)
        vsnprintf(r->why + at, r->why_size - (size_t)at, fmt, args);
    va_end(args);
    return false;
}

/* ---- words ---- */

static bool read_number(struct reader *r, const char *word, const char *what, uint64_t least,
                        uint64_t most, struct step_number *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(word, &end, 10);
    bool digits = *word >= '0' && *word <= '9' && end != word && !errno;
    out->per_batch = digits && *end == '*';
    if (!digits || end[out->per_batch] || value < least || value > most)
        return wrong(r,
                     "%s is '%.40s': give an integer from %llu to %llu, with * behind it if it "
                     "grows with the batch",
                     what, word, (unsigned long long)least, (unsigned long long)most);
    out->value = value;
    return true;
}

static bool read_dtype(struct reader *r, const char *word, bool gemm, enum step_dtype *out)
{
    int dtype = step_dtype_of(word);
    if (dtype < 0 || (!gemm && dtype == STEP_TF32))
        return wrong(r, "no dtype '%.40s': fp32, %sbf16 or fp16", word, gemm ? "tf32, " : "");
    *out = (enum step_dtype)dtype;
    return true;
}

static bool read_gemm(struct reader *r, char *const *word, size_t n, struct step_line *l)
{
    static const char *const names[] = {"M", "N", "K"};
    const char *layout = word[0];
    if (strlen(layout) != 2 || strspn(layout, "nt") != 2)
        return wrong(r, "no layout '%.40s': nn, nt, tn or tt", layout);
    l->transpose_a = layout[0] == 't';
    l->transpose_b = layout[1] == 't';
    for (int i = 0; i < 3; i++)
        if (!read_number(r, word[1 + i], names[i], 1, STEP_DIMENSION_MAX, &l->number[i]))
            return false;
    l->number[STEP_COUNT] = (struct step_number){1, false};
    if (n == 6 && word[5][0] != 'x')
        return wrong(r, "'%.40s' behind the dtype: xCOUNT, e.g. x12", word[5]);
    if (n == 6 && !read_number(r, word[5] + 1, "COUNT", 1, 1 << 20, &l->number[STEP_COUNT]))
        return false;
    return read_dtype(r, word[4], true, &l->dtype);
}

static bool read_kernel(struct reader *r, char *const *word, struct step_line *l)
{
    char *end;
    if (!read_number(r, word[0], "BYTES", 1, STEP_NUMBER_MAX, &l->number[0]))
        return false;
    double us = strtod(word[1], &end);
    if (end == word[1] || strcmp(end, "us") != 0 || !(us >= 0 && us < 1e9))
        return wrong(r, "TIME is '%.40s': microseconds, e.g. 3.1us; 0us is unknown", word[1]);
    l->time_s = us * 1e-6;
    return true;
}

static bool read_elements(struct reader *r, char *const *word, size_t n, struct step_line *l)
{
    if (!read_number(r, word[0], "ELEMENTS", 1, STEP_NUMBER_MAX, &l->number[0]) ||
        !read_dtype(r, word[1], false, &l->dtype))
        return false;
    if (l->number[0].per_batch && l->kind == STEP_GRADIENT)
        return wrong(r, "a gradient does not grow with the batch: remove the *");
    if (n == 3 && strlen(word[2]) >= sizeof l->group)
        return wrong(r, "GROUP is longer than %zu bytes", sizeof l->group - 1);
    snprintf(l->group, sizeof l->group, "%s", n == 3 ? word[2] : "");
    return true;
}

static bool read_wait(struct reader *r, char *const *word, size_t n, struct step_line *l)
{
    if (n && !read_number(r, word[0], "PENDING", 0, STEP_NUMBER_MAX, &l->number[0]))
        return false;
    if (l->number[0].value >= r->collectives && (n || !r->gradients))
        return wrong(r, "nothing to wait for: %llu collectives above, PENDING is %llu",
                     (unsigned long long)r->collectives, (unsigned long long)l->number[0].value);
    return true;
}

static bool read_words(struct reader *r, char *const *word, size_t n, struct step_line *l)
{
    int kind = 0;
    while (kind < KINDS && strcmp(kinds[kind].name, word[0]) != 0)
        kind++;
    if (kind == KINDS)
        return wrong(r,
                     "no operation '%.40s': gemm, kernel, gradient, all_reduce, all_gather, "
                     "reduce_scatter or wait",
                     word[0]);
    if (n - 1 < kinds[kind].least || n - 1 > kinds[kind].most)
        return wrong(r, "%zu words: %s", n, kinds[kind].usage);
    l->kind = (enum step_kind)kind;
    switch (l->kind) {
    case STEP_GEMM:
        return read_gemm(r, word + 1, n - 1, l);
    case STEP_KERNEL:
        return read_kernel(r, word + 1, l);
    case STEP_WAIT:
        return read_wait(r, word + 1, n - 1, l);
    default:
        return read_elements(r, word + 1, n - 1, l);
    }
}

/* ---- lines ---- */

static bool add(struct reader *r, const struct step_line *l)
{
    struct step_file *f = r->f;
    if (f->n == r->cap) {
        size_t cap = 2 * r->cap + 64;
        struct step_line *more = realloc(f->line, cap * sizeof *more);
        if (!more)
            return wrong(r, "out of memory");
        f->line = more;
        r->cap = cap;
    }
    f->line[f->n++] = *l;
    r->collectives += step_is_collective(l->kind);
    r->gradients |= l->kind == STEP_GRADIENT;
    return true;
}

static bool read_version(struct reader *r, char *const *word, size_t n)
{
    char want[24];
    snprintf(want, sizeof want, "%d", STEP_VERSION);
    if (n != 2 || strcmp(word[0], "gradsync-step") != 0)
        return wrong(r, "not a step: the first line is 'gradsync-step %d'", STEP_VERSION);
    if (strcmp(word[1], want) != 0)
        return wrong(r, "version '%.20s': this gradsync reads version %d", word[1], STEP_VERSION);
    return true;
}

/* Cuts `text` into words, up to a comment. More than WORDS_MAX: the rest is one. */
static size_t split(char *text, char *word[WORDS_MAX])
{
    size_t n = 0;
    text[strcspn(text, "#\r")] = '\0';
    char *rest = NULL;
    for (char *w = strtok_r(text, " \t", &rest); w && n < WORDS_MAX;
         w = strtok_r(NULL, " \t", &rest))
        word[n++] = w;
    return n;
}

static bool read_line(struct reader *r, const char *start, size_t n, bool *versioned)
{
    char text[256], *word[WORDS_MAX];
    const char *comment = memchr(start, '#', n);
    n = comment ? (size_t)(comment - start) : n;
    if (n >= sizeof text || memchr(start, '\0', n))
        return wrong(r, "not a line of a step: longer than %zu bytes, or with a NUL byte",
                     sizeof text - 1);
    memcpy(text, start, n);
    text[n] = '\0';
    size_t words = split(text, word);
    if (!words)
        return true;
    if (!*versioned) {
        *versioned = true;
        return read_version(r, word, words);
    }
    struct step_line l = {.line = r->line};
    return read_words(r, word, words, &l) && add(r, &l);
}

bool step_parse(struct step_file *f, const char *name, const char *text, size_t n, char *why,
                size_t size)
{
    struct reader r = {.f = f, .name = name, .why = why, .why_size = size};
    bool versioned = false, good = true;
    *f = (struct step_file){0};
    for (size_t at = 0; at < n && good;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end ? (size_t)(end - (text + at)) : n - at;
        r.line++;
        good = read_line(&r, text + at, length, &versioned);
        at += length + 1;
    }
    r.line += !r.line;
    if (good && !versioned)
        good = wrong(&r, "not a step: the first line is 'gradsync-step %d'", STEP_VERSION);
    else if (good && !f->n)
        good = wrong(&r, "a step without operations");
    if (!good)
        step_free(f);
    return good;
}

static bool read_whole(const char *path, char **text, size_t *n, char *why, size_t size)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe is not waited for */
    FILE *in = fd < 0 ? NULL : fdopen(fd, "rb");
    if (!in || fstat(fd, &st) != 0) {
        snprintf(why, size, "%s: %s; give the path from the current folder", path, strerror(errno));
        if (in)
            fclose(in);
        return false;
    }
    bool fits = S_ISREG(st.st_mode) && (uint64_t)st.st_size <= STEP_FILE_MAX;
    *text = fits ? malloc((size_t)st.st_size + 1) : NULL;
    *n = *text ? fread(*text, 1, (size_t)st.st_size, in) : 0;
    fclose(in);
    if (!*text)
        snprintf(why, size, "%s: not a file of at most %zu MiB", path, STEP_FILE_MAX >> 20);
    return *text;
}

bool step_read(struct step_file *f, const char *path, char *why, size_t size)
{
    char *text = NULL;
    size_t n = 0;
    *f = (struct step_file){0};
    bool good = read_whole(path, &text, &n, why, size) && step_parse(f, path, text, n, why, size);
    free(text);
    return good;
}

void step_free(struct step_file *f)
{
    free(f->line);
    *f = (struct step_file){0};
}

/* ---- dtypes ---- */

static const struct {
    const char *name;
    unsigned size_B;
} dtypes[] = {
    [STEP_FP32] = {"fp32", 4},
    [STEP_TF32] = {"tf32", 4},
    [STEP_BF16] = {"bf16", 2},
    [STEP_FP16] = {"fp16", 2},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

unsigned step_dtype_B(enum step_dtype dtype)
{
    return dtypes[dtype].size_B;
}

int step_dtype_of(const char *name)
{
    for (int i = 0; i < DTYPES; i++)
        if (!strcmp(dtypes[i].name, name))
            return i;
    return -1;
}

/* ---- lines ---- */

static void write_number(FILE *out, const char *before, struct step_number n)
{
    fprintf(out, "%s%llu%s", before, (unsigned long long)n.value, n.per_batch ? "*" : "");
}

void step_write_version(FILE *out)
{
    fprintf(out, "gradsync-step %d\n", STEP_VERSION);
}

void step_write_line(FILE *out, const struct step_line *l)
{
    fputs(step_kind_name(l->kind), out);
    if (l->kind == STEP_GEMM) {
        fprintf(out, " %c%c", l->transpose_a ? 't' : 'n', l->transpose_b ? 't' : 'n');
        for (int i = 0; i < 3; i++)
            write_number(out, " ", l->number[i]);
        fprintf(out, " %s", dtypes[l->dtype].name);
        if (l->number[STEP_COUNT].value != 1 || l->number[STEP_COUNT].per_batch)
            write_number(out, " x", l->number[STEP_COUNT]);
    } else if (l->kind == STEP_KERNEL) {
        write_number(out, " ", l->number[0]);
        fprintf(out, " %.9gus", l->time_s * 1e6);
    } else if (l->kind == STEP_WAIT) {
        if (l->number[0].value)
            write_number(out, " ", l->number[0]);
    } else {
        write_number(out, " ", l->number[0]);
        fprintf(out, " %s", dtypes[l->dtype].name);
        if (l->group[0])
            fprintf(out, " %s", l->group);
    }
    fputc('\n', out);
}
