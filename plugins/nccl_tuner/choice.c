/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/choice.h"

#include "nccl_tuner/nccl_abi.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const algos[NCCL_ALGOS] = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
static const char *const protos[NCCL_PROTOS] = {"LL", "LL128", "Simple"};
static const char *const parts[CHOICE_PARTS] = {"all", "half", "one", "none"};

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
    return find(name, algos, NCCL_ALGOS);
}

int choice_proto(const char *name)
{
    return find(name, protos, NCCL_PROTOS);
}

const char *choice_algo_name(int algo)
{
    return algo >= 0 && algo < NCCL_ALGOS ? algos[algo] : "other";
}

const char *choice_proto_name(int proto)
{
    return proto >= 0 && proto < NCCL_PROTOS ? protos[proto] : "other";
}

const char *choice_part_name(int part)
{
    return parts[part];
}

static bool parse_channels(struct choice *c, const char *digits)
{
    char *end;
    long n = strtol(digits, &end, 10);
    if (c->channels || !isdigit((unsigned char)*digits) || *end || n < 1 || n > NCCL_MAX_CHANNELS)
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
    *c = (struct choice){-1, -1, 0, PART_ALL};
    if (!strcmp(text, "auto"))
        return true;
    for (int part = PART_HALF; part < CHOICE_PARTS; part++)
        if (!strcmp(text, parts[part])) {
            c->part = part;
            return true;
        }
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    while (rest)
        if (!parse_part(c, strsep(&rest, "/")))
            return false;
    return true;
}

/* ---- the table ---- */

/* The cheapest available entry with this algorithm and protocol (-1: any); -1: none. */
static int cheapest(const struct call *call, int algo, int proto)
{
    int best = -1;
    for (int a = 0; a < call->algos; a++)
        for (int p = 0; p < call->protos; p++) {
            int i = a * call->protos + p;
            if ((algo >= 0 && a != algo) || (proto >= 0 && p != proto) || !(call->costs[i] >= 0))
                continue;
            if (best < 0 || call->costs[i] < call->costs[best])
                best = i;
        }
    return best;
}

int choice_taken(const struct call *call)
{
    int i = cheapest(call, -1, -1);
    if (i < 0 || i / call->protos >= NCCL_ALGOS || i % call->protos >= NCCL_PROTOS)
        return -1;
    return i / call->protos * NCCL_PROTOS + i % call->protos;
}

static void prefer(const struct choice *c, const struct call *call, int i)
{
    if (c->algo < 0 && c->proto < 0)
        return;
    /* NCCL takes the first of several that cost 0. */
    for (int k = 0; k < i; k++)
        if (call->costs[k] == 0)
            call->costs[k] = 1e-6f;
    call->costs[i] = 0;
}

/* NCCL takes channels away until each has a thread's share of work: bytes >= channels * threads *
 * threshold (its tuning.cc and topoGetAlgoInfo). These are its defaults; NVLS is not cut. */
static size_t bytes_a_channel(int algo, int proto, int ranks)
{
    if (algo == NCCL_NVLS || algo == NCCL_NVLS_TREE)
        return 1;
    if (proto == NCCL_LL)
        return (size_t)512 * 8 * (size_t)(algo == NCCL_RING ? ranks : 1);
    return proto == NCCL_LL128 ? (size_t)640 * 8 : (size_t)512 * 64;
}

bool choice_limit(const struct choice *c, const struct call *call)
{
    int i = cheapest(call, c->algo, c->proto), algo = i / call->protos;
    if (i < 0 || (c->channels && (algo == NCCL_COLLNET_DIRECT || algo == NCCL_COLLNET_CHAIN)))
        return false;
    prefer(c, call, i);
    if (!c->channels)
        return true;
    size_t most = call->bytes / bytes_a_channel(algo, i % call->protos, call->ranks);
    most = most ? most : 1;
    *call->channels = most < (size_t)c->channels ? (int)most : c->channels;
    return true;
}
