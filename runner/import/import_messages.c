/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_messages.h"

#include "import/import_words.h"

#include <ctype.h>
#include <string.h>

char *import_past_tag(char *line)
{
    char *s = line + strspn(line, " ");
    size_t digits = strspn(s, "0123456789");
    if (digits && s[digits] == ':' && (s[digits + 1] == ' ' || s[digits + 1] == '#'))
        return s + digits + 1 + (s[digits + 1] == ' ');
    if (*s == '[' && s[1] && strspn(s + 1, "0123456789")) {
        char *end = strstr(s, "<std");
        char *close = end ? strchr(end, ':') : NULL;
        if (close && end - s < 24 && close - end < 10)
            return close + 1 + (close[1] == ' ');
    }
    return line;
}

/* A message may follow a field of a row without a blank: "-1node0", "sumnode0". Returns where its
 * host begins. `words`: how many words are before s in the line. */
static char *past_field(char *s, size_t words)
{
    static const char *const ops[] = {"sum", "prod", "max", "min", "avg", "mulsum"};
    struct number x;
    char *host = s;
    while (*host && *host != ':' && *host != ' ' && !isalpha((unsigned char)*host))
        host++;
    if (host > s && isalpha((unsigned char)*host)) {
        bool field = number_read(&x, s, host);
        return field ? host : s;
    }
    for (size_t i = 0; words == 3 && i < sizeof ops / sizeof *ops; i++)
        if (!strncmp(s, ops[i], strlen(ops[i])))
            return s + strlen(ops[i]);
    return s;
}

/* Where a time before s begins, "[2026-01-31 12:00:00] "; s if there is none. */
static char *with_time(const char *line, char *s)
{
    char *time = s;
    while (time > line && time[-1] == ' ')
        time--;
    if (time == line || time[-1] != ']')
        return s;
    while (time > line && *time != '[')
        time--;
    return time;
}

char *import_message_in(char *line)
{
    static const char *const kinds[] = {"] NCCL INFO", "] NCCL WARN", "] NCCL TRACE", "] NCCL CALL",
                                        "] NCCL ABORT"};
    struct word w[3];
    char *at = NULL;
    if (!strstr(line, "] NCCL "))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !at; i++)
        at = strstr(line, kinds[i]);
    if (!at)
        return NULL;
    while (at > line && *at != '[')
        at--;
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && at[-1] != ' ' && at[-1] != ']')
        at--;
    char keep = *at;
    *at = '\0';
    size_t words = words_of(line, w, 3);
    *at = keep;
    return with_time(line, past_field(at, words));
}
