/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secrets.h"

#include "base/text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HIDDEN "(hidden)"
#define WORD_END '\x1f' /* between two words of a command */
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
#define KNOWN_B 6 /* shorter values are too common in any text */

/* ---- the rules ---- */

enum role {
    HARMLESS, /* these letters say nothing */
    SECRET,
    MAY_COUNT, /* with a number as its value it counts something: max_token=512 */
    COUNTS     /* with a number of any length */
};

/* Parts of names, in upper case; the first row that applies decides. */
static const struct {
    const char *part;
    enum role role;
} parts[] = {
    {"AUTHORIZ", SECRET},   {"SECRET", SECRET},     {"CREDENTIAL", SECRET}, {"PASSW", SECRET},
    {"PASSPHRASE", SECRET}, {"SIGNATURE", SECRET},  {"WEBHOOK", SECRET},    {"COOKIE", SECRET},
    {"_PWD", SECRET},       {"TOKENIZ", HARMLESS},  {"KEYBOARD", HARMLESS}, {"KEYWORD", HARMLESS},
    {"KEYPOINT", HARMLESS}, {"KEYFRAME", HARMLESS}, {"MONKEY", HARMLESS},   {"AUTHOR", HARMLESS},
    {"PASSES", HARMLESS},   {"PASSED", HARMLESS},   {"PASSING", HARMLESS},  {"BYPASS", HARMLESS},
    {"ARD_PASS", HARMLESS}, {"OLDPWD", HARMLESS},   {"TOKENS", COUNTS},     {"KEYS", COUNTS},
    {"TOKEN", MAY_COUNT},   {"KEY", MAY_COUNT},     {"PASS", MAY_COUNT},    {"AUTH", SECRET},
};

/* Names that end so hold no secret: places, and the classes of errors. */
static const char *const harmless_ends[] = {"FILE", "PATH", "DIR", "ERROR", "EXCEPTION", "WARNING"};

/* Values that name themselves, by how they begin, and the least length of what follows. */
static const struct {
    const char *begin;
    size_t least;
} values[] = {{"hf_", 20},    {"ghp_", 20},   {"gho_", 20},  {"github_pat_", 20},
              {"glpat-", 16}, {"sk-", 20},    {"xoxb-", 10}, {"xoxp-", 10},
              {"AKIA", 16},   {"nvapi-", 20}, {"AIza", 30},  {"eyJ", 30}};

/* Words in place of a value. */
static const char *const no_values[] = {"none", "null", "true", "false", "yes", "no", "on", "off"};

/* Options whose value is USER:PASSWORD. */
static const char *const user_options[] = {"-u", "--user", "--proxy-user"};

/* Such as 512, 1_000, 12.5 or 3e-4. */
static bool is_number(const char *s, size_t n, size_t digits_most)
{
    size_t digits = 0, i = 0;
    for (; i < n && (isdigit((unsigned char)s[i]) || strchr(".,_+-eE%", s[i])); i++)
        digits += isdigit((unsigned char)s[i]) != 0;
    return n && i == n && digits && digits <= digits_most;
}

/* value: NULL: any. */
static bool is_secret(const char *name, size_t n, const char *value, size_t value_n)
{
    AUTO_FREE char *upper = xstrfmt("%.*s", (int)n, name);
    for (char *s = upper; *s; s++)
        *s = *s == '-' ? '_' : (char)toupper((unsigned char)*s);
    for (size_t i = 0; i < COUNT(harmless_ends); i++)
        if (text_ends(upper, harmless_ends[i]))
            return false;
    for (size_t i = 0; i < COUNT(parts); i++)
        for (char *at; (at = strstr(upper, parts[i].part));) {
            size_t most = parts[i].role == COUNTS ? 30 : parts[i].role == MAY_COUNT ? 5 : 0;
            if (parts[i].role != HARMLESS)
                return !value || !most || !is_number(value, value_n, most);
            memset(at, ' ', strlen(parts[i].part));
        }
    return false;
}

bool secrets_name(const char *name, size_t n)
{
    return is_secret(name, n, NULL, 0);
}

static bool is_value(const char *s, size_t n)
{
    for (size_t i = 0; i < COUNT(no_values); i++)
        if (strlen(no_values[i]) == n && !strncasecmp(s, no_values[i], n))
            return false;
    return n && *s != '$' && strncmp(s, HIDDEN, strlen(HIDDEN)) != 0;
}

/* ---- where a value is ---- */

enum mode { COMMAND, CONFIG, LOG };

/* The text, from a place in it on. */
struct place {
    const char *text, *s;
    enum mode mode;
};

struct span {
    size_t from, n; /* bytes behind s */
};

static size_t name_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_-.", s[n])))
        n++;
    return n;
}

static size_t blanks(const char *s)
{
    return strspn(s, " \t");
}

/* Bytes of a quote at s, which may be escaped: ", ', \", \\\". */
static size_t quote_length(const char *s)
{
    size_t n = strspn(s, "\\");
    return s[n] == '"' || s[n] == '\'' ? n + 1 : 0;
}

/* A word of a command is a value up to its end, or up to the comma and NAME= of the next variable of a
 * list. */
static size_t word_value(const char *s)
{
    size_t n = 0;
    for (; s[n] && s[n] != WORD_END; n++) {
        size_t name = s[n] == ',' ? name_length(s + n + 1) : 0;
        if (name && (s[n + 1 + name] == '=' || s[n + 1] == '-'))
            break;
    }
    return n;
}

/* Without its quotes, or up to a blank or a mark of lists. */
static struct span value_at(const char *s)
{
    size_t quote = quote_length(s);
    const char *end = NULL;
    if (quote) {
        AUTO_FREE char *mark = xstrfmt("%.*s", (int)quote, s);
        end = strstr(s + quote, mark);
    }
    if (end)
        return (struct span){quote, (size_t)(end - s) - quote};
    size_t n = strcspn(s, " \t\r\n\"',;&\x1f");
    const char *open = n ? strchr("([{", s[n - 1]) : NULL;
    const char *quoted = open && quote_length(s + n) ? strchr(s + n + 1, s[n]) : NULL;
    const char *close = quoted ? strchr(quoted, *open == '('   ? ')'
                                                : *open == '[' ? ']'
                                                               : '}')
                               : NULL;
    return (struct span){0, close ? (size_t)(close - s) : n}; /* ['a', 'b'], Secret("a") */
}

/* The same of an HTTP header, whose value may begin with the name of its scheme. */
static struct span header_at(const char *s)
{
    static const char *const schemes[] = {"Bearer", "Basic", "Token", "Digest"};
    size_t quote = quote_length(s), scheme = strcspn(s + quote, " \t\r\n\"',;\x1f");
    size_t gap = blanks(s + quote + scheme);
    bool named = false;
    for (size_t i = 0; i < COUNT(schemes); i++)
        named =
            named || (scheme == strlen(schemes[i]) && !strncasecmp(s + quote, schemes[i], scheme));
    if (!gap || !named)
        return value_at(s);
    if (quote)
        return value_at(s); /* up to the quote */
    return (struct span){0, scheme + gap + strcspn(s + scheme + gap, " \t\r\n\"',;\x1f")};
}

/* Bytes of "key =" at the start of a config's line, or of "SECTION:KEY=" at the start of an override;
 * else 0: the value comes next, which may be "env A_KEY=x" or "a:b A_KEY=x". */
static size_t key_length(const char *text, const char *s)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.->: \t";
    const char *before = s;
    while (before > text && isspace((unsigned char)before[-1]))
        before--;
    bool continued = before > text && before[-1] == '\\'; /* by the backslash of the line before */
    if (s != text && (s[-1] != '\n' || continued))
        return 0;
    size_t n = strspn(s, allowed), first = blanks(s);
    if (s[n] != '=')
        return 0;
    const char *colon = s == text ? memchr(s, ':', n) : NULL;
    const char *word = colon ? colon : s + first;
    size_t key = strcspn(word, " \t=");
    return word[key + blanks(word + key)] == '=' ? n + 1 : 0;
}

/* Of a URL, s is behind "://": its password, or a long word in place of user and password. */
static bool url_secret(const char *s, struct span *found)
{
    size_t n = strcspn(s, "/ \t\r\n\"'\x1f");
    const char *at = memrchr(s, '@', n), *colon = at ? memchr(s, ':', (size_t)(at - s)) : NULL;
    size_t from = colon ? (size_t)(colon + 1 - s) : 0;
    *found = (struct span){from, at ? (size_t)(at - s) - from : 0};
    return colon ? found->n > 0 : found->n >= 20;
}

/* A line "NAME=VALUE" or "export NAME=VALUE" of what `env` or `export -p` prints: the value goes to the end. */
static bool is_dump(const struct place *p, size_t n)
{
    const char *s = p->s;
    for (size_t i = 0; i < n; i++)
        if (islower((unsigned char)s[i]))
            return false;
    while (s > p->text && s[-1] != '\n')
        s--;
    size_t before = (size_t)(p->s - s);
    return p->mode == LOG && (!before || (before == 7 && !strncmp(s, "export ", 7)) ||
                              (before == 11 && !strncmp(s, "declare -x ", 11)));
}

/* Is s the start of a word of several, and not a script behind an option such as -c or -lc? */
static bool starts_word(const struct place *p)
{
    if (p->s == p->text)
        return strchr(p->s, WORD_END);
    if (p->s[-1] != WORD_END)
        return false;
    const char *end = p->s - 1, *before = end;
    while (before > p->text && before[-1] != WORD_END)
        before--;
    size_t n = (size_t)(end - before);
    return !(n >= 2 && n <= 4 && *before == '-' && before[1] != '-' && end[-1] == 'c');
}

/* NAME=VALUE, NAME: VALUE, --NAME VALUE; n: bytes of NAME. */
static bool named_secret(const struct place *p, size_t n, struct span *found)
{
    const char *s = p->s, *mark = s + n + quote_length(s + n);
    bool quoted = mark > s + n, loose = quoted || p->mode == LOG;
    bool option = *s == '-' && n > 3 && !quoted && strchr(" \t\x1f", *mark) && *mark;
    mark += loose ? blanks(mark) : 0;
    bool equals = *mark == '=' && mark[1] != '=';
    bool colon = *mark == ':' && !strchr("/:", mark[1]);
    if (colon && memchr(s, '.', n) && isdigit((unsigned char)mark[1]))
        return false; /* FILE.py:12 */
    bool pair =
        quoted && *mark == ',' && quote_length(mark + 1 + blanks(mark + 1)); /* ('A', 'b') */
    bool csh = s - p->text >= 7 && !strncmp(s - 7, "setenv ", 7) && s[n] == ' ';
    bool column = p->mode == LOG && s == p->text && memchr(s, '_', n) && strspn(s, CAPITALS) == n &&
                  blanks(s + n) >= 2;
    option = option || csh || column;
    const char *value = equals || colon || pair ? mark + 1 : s + n + 1;
    bool word = s[n] == WORD_END;
    if (!equals && !colon && !option && !pair)
        return false;
    if (colon || loose || (option && !equals && !word))
        value += blanks(value);
    if (equals ? !quoted && starts_word(p) : !colon && word)
        *found = (struct span){0, word_value(value)};
    else if (equals && !quote_length(value) && is_dump(p, n))
        *found = (struct span){0, strcspn(value, "\r\n")};
    else
        *found = header_at(value);
    if (option && !equals && !colon && !column && *value == '-')
        return false;
    const char *shown = value + found->from;
    found->from += (size_t)(value - s);
    return is_value(shown, found->n) && is_secret(s, n, shown, found->n);
}

/* curl -u USER:PASSWORD, sshpass -p PASSWORD. */
static bool option_secret(const struct place *p, size_t n, struct span *found)
{
    const char *s = p->s, *value = s + n + 1;
    bool user = false,
         pass = n == 2 && !strncmp(s, "-p", 2) && s - p->text >= 8 && !strncmp(s - 8, "sshpass", 7);
    if (s[n] != ' ' && s[n] != WORD_END)
        return false;
    for (size_t i = 0; i < COUNT(user_options); i++)
        user = user || (strlen(user_options[i]) == n && !strncmp(s, user_options[i], n));
    size_t all = strcspn(value, " \t\r\n\x1f");
    const char *colon = user ? memchr(value, ':', all) : NULL;
    if (!colon && !pass)
        return false;
    size_t from = colon ? (size_t)(colon + 1 - value) : 0;
    *found = (struct span){n + 1 + from, all - from};
    return found->n && value[from] != '$' && !is_number(value + from, found->n, 9);
}

static bool bare_secret(const struct place *p, size_t n, struct span *found)
{
    const char *s = p->s;
    *found = (struct span){0, n};
    for (size_t i = 0; i < COUNT(values); i++) {
        size_t begin = strlen(values[i].begin);
        if (!strncmp(s, values[i].begin, begin) && n >= begin + values[i].least)
            return true;
    }
    if (n == 6 && !strncasecmp(s, "Bearer", 6) && blanks(s + 6)) {
        found->from = 6 + blanks(s + 6);
        found->n = strcspn(s + found->from, " \t\r\n\"',;\x1f");
        return found->n >= 16;
    }
    return false;
}

/* ---- hiding ---- */

/* Values that were hidden in commands and configs, and may come back in a log. */
static struct words known;

static char *hidden(const char *text, enum mode mode)
{
    struct text t = {0};
    struct span found = {0};
    text_addn(&t, "", 0);
    for (const char *s = text; *s;) {
        size_t key = mode == CONFIG ? key_length(text, s) : 0;
        size_t n = key ? 0 : name_length(s);
        const struct place p = {text, s, mode};
        if (key) {
            text_addn(&t, s, key);
            s += key;
            continue;
        }
        bool url = n && !strncmp(s + n, "://", 3) && url_secret(s + n + 3, &found);
        found.from += url ? n + 3 : 0;
        if (url || (n && (named_secret(&p, n, &found) || option_secret(&p, n, &found) ||
                          bare_secret(&p, n, &found)))) {
            AUTO_FREE char *value = xstrfmt("%.*s", (int)found.n, s + found.from);
            text_addn(&t, s, found.from);
            text_add(&t, HIDDEN);
            if (mode != LOG && found.n >= KNOWN_B && strcmp(value, HIDDEN) != 0)
                words_add_once(&known, value);
            s += found.from + found.n;
        } else {
            text_addn(&t, s, n ? n : 1);
            s += n ? n : 1;
        }
    }
    return t.s;
}

char *secrets_hidden(const char *text)
{
    return hidden(text, COMMAND);
}

char *secrets_hidden_config(const char *text)
{
    return hidden(text, CONFIG);
}

/* Replaces a value wherever it is. */
static void replace(struct text *t, const char *value, size_t n)
{
    struct text out = {0};
    const char *s = t->s, *at;
    if (!memmem(s, t->len, value, n))
        return;
    text_addn(&out, "", 0);
    for (; (at = memmem(s, strlen(s), value, n)); s = at + n) {
        text_addn(&out, s, (size_t)(at - s));
        text_add(&out, HIDDEN);
    }
    text_add(&out, s);
    text_free(t);
    *t = out;
}

/* The secrets of the environment, read again when it changed. */
static const struct words *environment(void)
{
    static struct words secrets;
    static uintptr_t of;
    uintptr_t now = (uintptr_t)environ;
    for (char *const *e = environ; *e; e++)
        now = now * 31 + (uintptr_t)*e;
    if (now == of)
        return &secrets;
    of = now;
    words_free(&secrets);
    for (char *const *e = environ; *e; e++) {
        size_t n = strcspn(*e, "=");
        const char *v = *e + n + !!(*e)[n];
        if (!is_secret(*e, n, v, strlen(v)))
            continue;
        for (size_t m; *v; v += m + (v[m] == '\n')) /* a key may have several lines */
            if ((m = strcspn(v, "\n")) >= KNOWN_B)
                words_addf(&secrets, "%.*s", (int)m, v);
    }
    return &secrets;
}

char *secrets_hidden_log(const char *line)
{
    AUTO_TEXT struct text t = {0};
    const struct words *all[] = {environment(), &known};
    text_add(&t, line);
    for (size_t k = 0; k < COUNT(all); k++)
        for (size_t i = 0; i < all[k]->n; i++)
            replace(&t, all[k]->v[i], strlen(all[k]->v[i]));
    return hidden(t.s, LOG);
}

/* ---- words of a command ---- */

void secrets_hidden_words(struct words *shown, char *const *words)
{
    AUTO_TEXT struct text all = {0};
    text_add(&all, "");
    for (size_t i = 0; words[i]; i++)
        text_addf(&all, "%s%s", i ? "\x1f" : "", words[i]);
    AUTO_FREE char *text = hidden(all.s, COMMAND);
    *shown = (struct words){0};
    for (const char *s = text;; s++) {
        size_t n = strcspn(s, (char[]){WORD_END, '\0'});
        words_addf(shown, "%.*s", (int)n, s);
        s += n;
        if (!*s)
            return;
    }
}

bool secrets_are_hidden(const char *text)
{
    return strstr(text, HIDDEN);
}
