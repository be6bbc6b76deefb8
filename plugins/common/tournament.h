/* SPDX-License-Identifier: Apache-2.0
 *
 * A round-robin tournament: in each round every rank meets one other rank, so that all pairs of a
 * round can run at once; over all rounds each pair meets once. With an odd number of ranks, one
 * rank is idle in each round. (The circle method: the last place stands, the others move around.)
 */
#ifndef TOURNAMENT_H
#define TOURNAMENT_H

static inline int tournament_rounds(int ranks)
{
    return ranks + ranks % 2 - 1;
}

/* The partner of a rank in a round from 1; -1: it is idle. */
static inline int tournament_partner(int rank, int ranks, int round)
{
    int moving = tournament_rounds(ranks), partner;
    if (rank == moving) /* the standing place: meets the rank that would meet itself */
        partner = round * ((moving + 1) / 2) % moving;
    else
        partner = (round - rank + moving) % moving;
    partner = partner == rank ? moving : partner;
    return partner < ranks ? partner : -1;
}

/* The round in which two ranks meet. */
static inline int tournament_round(int a, int b, int ranks)
{
    int round = 1;
    while (tournament_partner(a, ranks, round) != b)
        round++;
    return round;
}

#endif
