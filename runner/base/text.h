/* SPDX-License-Identifier: Apache-2.0
 *
 * Small text helpers: a growing string, lists of words, and the nearest name to a typo.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string. Invariant: s is never NULL after the first add and always terminated.
 * Like xmalloc, all functions here end the program if memory runs out. */
struct text {
    char *s;
    size_t len, cap;
};

void text_add(struct text *t, const char *s);
void text_addn(struct text *t, const char *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes the digits of v; printf takes several times as long. Returns their end, at most 20 bytes on. */
char *text_digits(char *at, uint64_t v);
void text_clear(struct text *t); /* makes it empty, keeps the memory */
void text_free(struct text *t);

/* A list of words, usable as an argv: v[n] is NULL once a word was added. */
struct words {
    char **v;
    size_t n;
};
/* Splits at separators and trims white space; keeps empty words ("a,,b" has three). */
void words_split(struct words *w, const char *s, char separator);
void words_add(struct words *w, const char *word);
void words_addf(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool words_has(const struct words *w, const char *word);
size_t words_find(const struct words *w, const char *word); /* its index; n: the list has it not */
/* Adds the word unless the list has it. Returns its index. */
size_t words_add_once(struct words *w, const char *word);
void words_sort(struct words *w); /* by their bytes */
void words_free(struct words *w);

/* What is behind the last '/' of a path. */
const char *path_name(const char *path);
/* Is `word` one of the words of the list, e.g. of "a,b,c"? NULL is an empty list. */
bool text_lists(const char *list, const char *separator, const char *word);
/* Does s end in `ending`, with something in front of it? */
bool text_ends(const char *s, const char *ending);

/* The candidate nearest to `word`, within a third of its length in edits; if there is none, the first
 * candidate that contains `word`; or NULL. */
const char *text_nearest(const char *word, const char *const *candidates, size_t n);
/* Of the names of a table's n rows, which are pointers and no arrays: NEAREST(word, table, n, name). */
#define NEAREST(word, table, n, member)                                                            \
    text_nearest_row(word, (n) ? TEXT_POINTER(&(table)->member) : NULL, n, sizeof *(table))
#define TEXT_POINTER(p)                                                                            \
    _Generic((p), char **: (p), char *const *: (p), const char **: (p), const char *const *: (p))
const char *text_nearest_row(const char *word, const void *first, size_t n, size_t row_size);
/* Writes ", did you mean 'NEAR'?" with `open` and `close` as quotes, or "" if near is NULL. Returns
 * buf. */
const char *text_did_you_mean(char *buf, size_t size, const char *open, const char *near,
                              const char *close);
/* The same, valid until the end of the block. */
#define DID_YOU_MEAN_IN(open, near, close) text_did_you_mean((char[256]){0}, 256, open, near, close)
#define DID_YOU_MEAN(near) DID_YOU_MEAN_IN("'", near, "'")
#define DID_YOU_MEAN_SECTION(near) DID_YOU_MEAN_IN("[", near, "]")

/* Parses the decimal integer at the start of s and sets *end behind it. False if there is none, or
 * if it is outside min..max. */
bool text_integer(const char *s, long long min, long long max, long long *value, const char **end);

/* The number of elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The new last element of an array of n, for an assignment: APPEND(list, n) = value; */
#define APPEND(array, n)                                                                           \
    (*((array) = text_grown((array), (n), sizeof *(array)), &(array)[(n)++]))
/* The array with room for one more element, reallocated at each power of two. Nothing else may grow it. */
void *text_grown(void *array, size_t n, size_t size);

/* In front of the declaration of a local variable: frees it when its block ends, however it ends. It
 * needs a value, which may be NULL or {0}. Several variables of one declaration are all freed. */
#define AUTO_FREE __attribute__((cleanup(auto_free)))
#define AUTO_TEXT __attribute__((cleanup(text_free)))
#define AUTO_WORDS __attribute__((cleanup(words_free)))
/* The same for a struct with a function of its own: AUTO(runs_free) struct runs runs = {0}; For a pointer
 * to one, AUTO_POINTER makes a second function: AUTO(plan_free_of) struct plan *plan = NULL; */
#define AUTO(free_it) __attribute__((cleanup(free_it)))
#define AUTO_POINTER(type, free_it)                                                                \
    static inline void free_it##_of(type *const *p)                                                \
    {                                                                                              \
        free_it(*p);                                                                               \
    }
void auto_free(void *pointer); /* takes the address of the pointer */

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
void xstrset(char **to, const char *s); /* replaces *to by a copy of s */
char *xstrfmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvstrfmt(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));
/* The number of UTF-8 characters. */
size_t text_width(const char *s);

/* ---- what may be printed ---- */

/* Which text may reach a terminal, a table, a script or a page. Recordings and folders come from
 * other people: their names and texts are judged here and nowhere else. */

/* Is the whole text printable? It may also hold the characters in `also`, such as "\n\t". */
bool printable(const char *s, const char *also);
/* Replaces what is not printable: a C0 character by a blank, anything else by '?'. Returns s. */
char *printable_make(char *s, const char *also);

/* A name of a file, folder, platform, workload, run, group or cell: letters, digits, '.', '_' and
 * '-', not first '.' or '-'. It needs no quotes anywhere. */
#define PRINTABLE_NAME_RULE "letters, digits, '.', '_' and '-'; not first '.' or '-'"
bool printable_name(const char *s);
/* A config, mode, unit or value of a parameter: printable, not first '-', and none of "'`\$<>&|;{} */
#define PRINTABLE_LABEL_RULE "printable, not first '-', and none of \"'`\\$<>&|;{}"
bool printable_label(const char *s);
/* A value as part of a label: characters that a label may not have are "%3B" and so on. The caller frees it. */
char *label_from(const char *value);
/* The value again; a '%' that label_from did not write is kept. The caller frees it. */
char *label_value(const char *label);
/* The same for words key=value of a plan, whose values may stand in double quotes. */
bool printable_words(const char *s);
