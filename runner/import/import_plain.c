/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_plain.h"

#include "base/text.h"
#include "import/import_words.h"

#include <stdlib.h>
#include <string.h>

static const char *past_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n')
        s++;
    return s;
}

/* Past `word` at s, blanks before it; NULL: it is not there. */
static const char *past(const char *s, const char *word)
{
    s = s ? past_blanks(s) : NULL;
    return s && !strncmp(s, word, strlen(word)) ? s + strlen(word) : NULL;
}

/* Past "NAME" in the text, quoted; NULL: there is none. */
static const char *past_name(const char *text, const char *name)
{
    char *quoted = xstrfmt("\"%s\"", name);
    const char *at = strstr(text, quoted);
    size_t n = strlen(quoted);
    free(quoted);
    return at ? at + n : NULL;
}

/* The inside of the array in "KEY": {… "ARRAY": [; NULL: it is not written so. */
static char *inside_of(char *text, const char *key, const char *array)
{
    const char *object = past_name(text, key);
    object = past(past(object, ":"), "{");
    const char *at = object ? past_name(object, array) : NULL;
    if (!at || (size_t)(at - object) > strcspn(object, "{}"))
        return NULL;
    at = past(past(at, ":"), "[");
    return at ? text + (at - text) : NULL;
}

/* The number at s; where it ends, or NULL when none is that can be taken. */
static const char *take_one(struct plain *t, const char *s, int shift)
{
    struct number x;
    const char *end = s;
    while ((*end >= '0' && *end <= '9') || *end == '.' || *end == 'e' || *end == 'E' ||
           *end == '+' || *end == '-')
        end++;
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->v = xrealloc(t->v, t->cap * sizeof *t->v);
    }
    bool good = number_read(&x, s, end) && !x.negative && number_scaled(&x, shift, &t->v[t->n]) &&
                t->v[t->n];
    t->n += good;
    return good ? end : NULL;
}

/* Numbers with commas between them up to the ']', which then follows the '['. Anything else is left
 * to the parser of JSON. */
static void take_numbers(struct plain *t, char *array, int shift)
{
    const char *s = array - 1;
    do {
        s = take_one(t, past_blanks(s + 1), shift);
        s = s ? past_blanks(s) : NULL;
    } while (s && *s == ',');
    if (s && *s == ']')
        memmove(array, s, strlen(s) + 1);
    else
        t->n = 0;
}

void plain_take(struct plain *t, char *text, const char *key, const char *array, int shift)
{
    char *inside = inside_of(text, key, array);
    t->n = 0;
    if (inside)
        take_numbers(t, inside, shift);
}

void plain_free(struct plain *t)
{
    free(t->v);
    *t = (struct plain){0};
}
