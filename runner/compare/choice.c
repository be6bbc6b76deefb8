/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/choice.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ALGOS ((int)(sizeof algos / sizeof *algos))
#define PROTOS ((int)(sizeof protos / sizeof *protos))
#define CHANNELS_MAX 64

static const char *const algos[] = {"tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
                                    "nvls_tree", "pat"};
static const char *const protos[] = {"LL", "LL128", "Simple"};

static bool alike(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b) && !(*a == '-' && *b == '_'))
            return false;
    return *a == *b;
}

static int find(const char *name, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (alike(name, names[i]))
            return i;
    return -1;
}

int choice_algo(const char *name)
{
    return find(name, algos, ALGOS);
}

int choice_proto(const char *name)
{
    return find(name, protos, PROTOS);
}

const char *choice_algo_name(int algo)
{
    return algo >= 0 && algo < ALGOS ? algos[algo] : "other";
}

const char *choice_proto_name(int proto)
{
    return proto >= 0 && proto < PROTOS ? protos[proto] : "other";
}

static bool parse_channels(struct choice *c, const char *digits)
{
    char *end;
    long n = strtol(digits, &end, 10);
    if (c->channels || !isdigit((unsigned char)*digits) || *end || n < 1 || n > CHANNELS_MAX)
        return false;
    c->channels = (int)n;
    return true;
}

static bool parse_part(struct choice *c, const char *part)
{
    int algo = choice_algo(part), proto = choice_proto(part);
    if (!strncmp(part, "ctas=", 5))
        return parse_channels(c, part + 5);
    if ((algo < 0 && proto < 0) || (algo >= 0 && c->algo >= 0) || (proto >= 0 && c->proto >= 0))
        return false;
    c->algo = algo >= 0 ? algo : c->algo;
    c->proto = proto >= 0 ? proto : c->proto;
    return true;
}

bool choice_parse(struct choice *c, const char *text)
{
    char copy[64], *rest = copy;
    *c = (struct choice){-1, -1, 0};
    if (!strcmp(text, "auto"))
        return true;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    while (rest)
        if (!parse_part(c, strsep(&rest, "/")))
            return false;
    return true;
}
