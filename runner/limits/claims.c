/* SPDX-License-Identifier: Apache-2.0 */
#include "limits/claims.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool parse_bytes(const char *text, double *value)
{
    uint64_t bytes;
    bool good = units_parse_size(text, &bytes);
    *value = good ? (double)bytes : (double)NAN;
    return good;
}

static bool parse_count(const char *text, double *value)
{
    int64_t count;
    bool good = units_parse_int(text, &count);
    *value = good ? (double)count : (double)NAN;
    return good || units_parse_real(text, value);
}

const char *const claim_quantities[QUANTITIES] = {
    [Q_RANKS] = "ranks",
    [Q_RANKS_RECORDED] = "ranks_recorded",
    [Q_SIZE] = "size",
    [Q_TIME] = "time",
    [Q_BUSBW] = "busbw",
    [Q_ALGBW] = "algbw",
    [Q_OF_PEAK] = "of_peak",
    [Q_MEMORY] = "memory",
    [Q_SPEEDUP] = "speedup",
    [Q_LAUNCHES] = "launches",
    [Q_GPUS] = "gpus",
    [Q_PARAMETERS] = "parameters",
    [Q_TOKENS_PER_S] = "tokens_per_s",
    [Q_TOKENS] = "tokens",
    [Q_STEP_TOKENS] = "step_tokens",
    [Q_STEP_TIME] = "step_time",
    [Q_DURATION] = "duration",
};

const char *const claim_words[CLAIM_WORDS] = {
    [W_FASTER] = "faster", [W_SLOWER] = "slower",       [W_WORKLOAD] = "workload",
    [W_MODE] = "mode",     [W_PRECISION] = "precision",
};

/* How each is written; counts where nothing stands here. */
static bool (*const parsers[QUANTITIES])(const char *, double *) = {
    [Q_SIZE] = parse_bytes,          [Q_TIME] = units_parse_time,
    [Q_BUSBW] = units_parse_rate,    [Q_ALGBW] = units_parse_rate,
    [Q_OF_PEAK] = units_parse_real,  [Q_MEMORY] = units_parse_rate,
    [Q_SPEEDUP] = units_parse_real,  [Q_STEP_TIME] = units_parse_time,
    [Q_DURATION] = units_parse_time,
};

/* ---- one claim ---- */

static int unknown_quantity(const struct config_entry *e, const char *word)
{
    const char *names[QUANTITIES + CLAIM_WORDS];
    for (size_t i = 0; i < QUANTITIES; i++)
        names[i] = claim_quantities[i];
    for (size_t i = 0; i < CLAIM_WORDS; i++)
        names[QUANTITIES + i] = claim_words[i];
    const char *near = text_nearest(word, names, QUANTITIES + CLAIM_WORDS);
    return config_error(e, "no quantity '%s'%s; QUANTITY VALUE, … e.g. ranks 8, busbw 168GB/s",
                        word, DID_YOU_MEAN(near));
}

static int take_quantity(struct claim *c, const struct config_entry *e, const char *name,
                         const char *value)
{
    for (size_t i = 0; i < CLAIM_WORDS; i++) {
        if (strcmp(name, claim_words[i]))
            continue;
        free(c->word[i]);
        c->word[i] = xstrdup(value);
        return GS_OK;
    }
    size_t q = 0;
    while (q < QUANTITIES && strcmp(name, claim_quantities[q]))
        q++;
    if (q == QUANTITIES)
        return unknown_quantity(e, name);
    if (!(parsers[q] ? parsers[q] : parse_count)(value, &c->q[q]) || !(c->q[q] > 0))
        return config_error(e, "'%s' is not a valid value of %s", value, name);
    return GS_OK;
}

static int take_given(struct claim *c, const struct config_entry *e)
{
    AUTO_WORDS struct words parts = {0};
    int code = GS_OK;
    words_split(&parts, e->value, ',');
    for (size_t i = 0; i < parts.n; i++) {
        char *blank = strchr(parts.v[i], ' ');
        int one;
        if (blank) {
            *blank = '\0';
            one = take_quantity(c, e, parts.v[i], blank + 1 + strspn(blank + 1, " "));
        } else {
            one = config_error(e, "'%s' is not QUANTITY VALUE, e.g. ranks 8", parts.v[i]);
        }
        code = code ? code : one;
    }
    return code;
}

static int take_claim(struct claims *out, const struct config *c, const struct config_entry *e)
{
    char *name = xstrfmt("%s.given", e->key);
    const struct config_entry *given = config_find(c, "reference", name);
    free(name);
    if (!given)
        return config_error(e, "no %s.given; add it, e.g. %s.given = ranks 8, busbw 168GB/s",
                            e->key, e->key);
    struct claim *one = &APPEND(out->v, out->n);
    *one = (struct claim){.entry = e,
                          .name = e->key + strlen("claim."),
                          .says = e->value,
                          .source = config_source(c, "reference", e->key)};
    for (size_t i = 0; i < QUANTITIES; i++)
        one->q[i] = NAN;
    return take_given(one, given);
}

/* "claim.NAME"; its parts have one dot more. */
static bool is_claim(const struct config_entry *e)
{
    static const char prefix[] = "claim.";
    return !strcmp(e->section, "reference") && !strncmp(e->key, prefix, sizeof prefix - 1) &&
           !strchr(e->key + sizeof prefix - 1, '.');
}

/* Parts of a claim that is not there: a typo in its name. */
static int check_orphan(const struct config *c, const struct config_entry *e)
{
    const char *dot = strrchr(e->key, '.');
    if (strcmp(e->section, "reference") || strncmp(e->key, "claim.", 6) || is_claim(e))
        return GS_OK;
    AUTO_FREE char *key = xstrfmt("%.*s", (int)(dot - e->key), e->key);
    bool known =
        config_find(c, "reference", key) && (!strcmp(dot, ".given") || !strcmp(dot, ".source"));
    return known ? GS_OK
                 : config_error(e, "belongs to no claim; write claim.NAME, "
                                   "claim.NAME.source or claim.NAME.given, NAME without dots");
}

int claims_read(struct claims *out, const struct config *c)
{
    int code = GS_OK;
    *out = (struct claims){0};
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        int one = is_claim(e) ? take_claim(out, c, e) : check_orphan(c, e);
        code = code ? code : one;
    }
    return code;
}

void claims_free(struct claims *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t w = 0; w < CLAIM_WORDS; w++)
            free(c->v[i].word[w]);
    free(c->v);
    *c = (struct claims){0};
}

bool claim_rate(const char *text, double *Bps)
{
    size_t n = strlen(text);
    static const char *const ends[] = {" at ", "±", "+-", "+/-"};
    for (size_t i = 0; i < COUNT(ends); i++) {
        const char *end = strstr(text, ends[i]);
        n = end && (size_t)(end - text) < n ? (size_t)(end - text) : n;
    }
    while (n && text[n - 1] == ' ')
        n--;
    AUTO_FREE char *head = xstrfmt("%.*s", (int)n, text);
    return units_parse_rate(head, Bps) && *Bps > 0;
}
