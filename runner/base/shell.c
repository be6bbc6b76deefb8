/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell.h"

#include "base/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- secrets ---- */

#define HIDDEN "(hidden)"
#define URL_VARIABLE "GRADSYNC_URL_PASSWORD"

bool secrets_name(const char *name, size_t n)
{
    static const char *const not_secret[] = {"*FILE", "*PATH", "*DIR"};
    static const char *const secret[] = {"*KEY*",  "*TOKEN*",      "*SECRET*",
                                         "*PASS*", "*CREDENTIAL*", "*AUTH*"};
    AUTO_FREE char *word = xstrfmt("%.*s", (int)n, name);
    bool is = false;
    for (size_t i = 0; i < COUNT(secret); i++)
        is = is || !fnmatch(secret[i], word, FNM_CASEFOLD);
    for (size_t i = 0; i < COUNT(not_secret); i++)
        is = is && fnmatch(not_secret[i], word, FNM_CASEFOLD);
    return is;
}

/* ---- hiding ---- */

static size_t name_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-')
        n++;
    return n;
}

/* Bytes of the value at s: quoted, or up to a blank or a mark of lists. */
static size_t value_length(const char *s)
{
    const char *end = *s == '"' || *s == '\'' ? strchr(s + 1, *s) : NULL;
    return end ? (size_t)(end + 1 - s) : strcspn(s, " \t\r\n\"',;");
}

/* The same of an HTTP header, whose value may begin with the name of its scheme. */
static size_t header_length(const char *s)
{
    size_t scheme = strcspn(s, " \t\r\n\"',;"), gap = strspn(s + scheme, " \t");
    bool named = gap && (!strncasecmp(s, "Bearer", scheme) || !strncasecmp(s, "Basic", scheme) ||
                         !strncasecmp(s, "Token", scheme));
    return named ? scheme + gap + value_length(s + scheme + gap) : value_length(s);
}

/* Does the line before s end in the backslash that continues it? */
static bool is_continued(const char *text, const char *s)
{
    while (s > text && isspace((unsigned char)s[-1]))
        s--;
    return s > text && s[-1] == '\\';
}

/* Bytes of "key =" at the start of a config's line, or of "SECTION:KEY=" at the start of an override;
 * else 0: the value comes next, which may be "env A_KEY=x" or "a:b A_KEY=x". */
static size_t key_length(const char *text, const char *s)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.->: \t";
    if (s != text && (s[-1] != '\n' || is_continued(text, s)))
        return 0;
    size_t n = strspn(s, allowed), first = strspn(s, " \t");
    if (s[n] != '=')
        return 0;
    const char *colon = s == text ? memchr(s, ':', n) : NULL;
    const char *word = colon ? colon : s + first;
    size_t key = strcspn(word, " \t=");
    return word[key + strspn(word + key, " \t")] == '=' ? n + 1 : 0;
}

/* Where a URL's password is between s, which is behind "://", and '@'. */
static bool url_password(const char *s, size_t *from, size_t *to)
{
    size_t n = strcspn(s, "/ \t\r\n\"'");
    const char *at = memrchr(s, '@', n), *colon = at ? memchr(s, ':', (size_t)(at - s)) : NULL;
    if (!colon)
        return false;
    *from = (size_t)(colon + 1 - s);
    *to = (size_t)(at - s);
    return *to > *from;
}

/* Bytes at s up to a secret, and of the secret; none: false. s begins a word. */
static bool find_secret(const char *s, size_t *before, size_t *secret)
{
    size_t n = name_length(s), to;
    if (!n)
        return false;
    if (!strncmp(s + n, "://", 3) && url_password(s + n + 3, before, &to)) {
        *secret = to - *before;
        *before += n + 3;
        return true;
    }
    bool header = s[n] == ':' && s[n + 1] != '/';
    size_t gap = s[n] == '='            ? 1
                 : header               ? 1 + strspn(s + n + 1, " \t")
                 : !strncmp(s, "--", 2) ? strspn(s + n, " \t")
                                        : 0;
    const char *value = s + n + gap;
    *before = n + gap;
    *secret = header ? header_length(value) : value_length(value);
    return gap && *secret && *value != '$' && strncmp(value, "\"$", 2) &&
           !(s[n] != '=' && *value == '-') && secrets_name(s, n);
}

char *secrets_hidden(const char *text)
{
    struct text t = {0};
    size_t before, secret;
    text_addn(&t, "", 0);
    for (const char *s = text; *s;) {
        size_t key = key_length(text, s);
        if (key) {
            text_addn(&t, s, key);
            s += key;
        } else if (find_secret(s, &before, &secret)) {
            text_addn(&t, s, before);
            text_add(&t, HIDDEN);
            s += before + secret;
        } else {
            size_t n = name_length(s);
            text_addn(&t, s, n ? n : 1);
            s += n ? n : 1;
        }
    }
    return t.s;
}

/* ---- putting back ---- */

/* The variable that held what was hidden behind the first n bytes of text. */
static char *variable_of(const char *text, size_t n)
{
    size_t end = n;
    while (end && strchr("= \t:", text[end - 1]))
        end--;
    size_t start = end;
    while (start && (isalnum((unsigned char)text[start - 1]) || strchr("_-", text[start - 1])))
        start--;
    bool dashes = !strncmp(text + start, "--", 2), header = text[end] == ':';
    bool option = dashes || header;
    if (end == n || (header && !secrets_name(text + start, end - start)))
        return xstrdup(URL_VARIABLE);
    char *name =
        xstrfmt("%.*s", (int)(end - start - (dashes ? 2 : 0)), text + start + (dashes ? 2 : 0));
    for (char *s = name; option && *s; s++)
        *s = *s == '-' ? '_' : (char)toupper((unsigned char)*s);
    return name;
}

char *secrets_restored(const char *text, char **missing)
{
    struct text t = {0};
    const char *s = text, *at;
    *missing = NULL;
    text_addn(&t, "", 0);
    for (; (at = strstr(s, HIDDEN)); s = at + strlen(HIDDEN)) {
        AUTO_FREE char *name = variable_of(text, (size_t)(at - text));
        const char *value = getenv(name);
        text_addn(&t, s, (size_t)(at - s));
        text_add(&t, value ? value : HIDDEN);
        if (!value && !*missing)
            *missing = xstrdup(name);
    }
    text_add(&t, s);
    return t.s;
}

/* ---- quoting ---- */

#define HARMLESS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-=:,@+%"

void shell_quote(struct text *t, const char *s)
{
    if (*s && s[strspn(s, HARMLESS)] == '\0') {
        text_add(t, s);
        return;
    }
    text_add(t, "'");
    for (; *s; s++)
        if (*s == '\'')
            text_add(t, "'\\''");
        else
            text_addn(t, s, 1);
    text_add(t, "'");
}

const char *shell_word(char *buf, size_t size, const char *s)
{
    AUTO_TEXT struct text t = {0};
    shell_quote(&t, s);
    snprintf(buf, size, "%s", t.s);
    return buf;
}
