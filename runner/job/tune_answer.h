/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "compare/contrast.h"
#include "job/race.h"
#include "job/tune_setting.h"

#include <jansson.h>
#include <stdint.h>

/* ==== tune_answer ====
 *
 * The answers of tune, on stdout, and the settings in the form that a job takes. */

/* Shares of the step; also a member of tune.json. */
struct tune_price {
    bool known;
    double step_s, none, none_lo, none_hi, half, waiting, noise;
};
json_t *tune_price_json(const struct tune_price *p);
void tune_price_read(struct tune_price *p, const json_t *o);

/* GS_OK, or GS_USAGE, reported: there is no such form. */
int tune_emit_known(const char *form);
void tune_say_price(const struct tune_price *p);
/* True: communication costs too little for any setting to gain `worth`; it has said so. */
bool tune_say_worthless(const struct tune_price *p, double worth);
/* The winner, whose proof is the effect e over `launches`. */
void tune_say_proven(const struct tune_setting *s, const struct effect *e,
                     const struct tune_price *p, const char *form);
/* No setting was proven. `best`: the race's best that is not proven; 0: none; e: its proof, or NULL. */
void tune_say_nothing(const struct tune_settings *s, size_t tried, double worth, size_t best,
                      const struct effect *e);

/* Writes DIR/setting.plot, from which figures/tune.gp draws. False and errno. */
bool tune_plot(const char *dir, const char *platform, long long ranks, long long nodes,
               const struct tune_settings *s, const struct race *r, const struct tune_price *p,
               double base_s, size_t winner, const struct effect *proof);

/* ==== tune_price ====
 *
 * The price of communication for tune, from the engine of trial (trial_price.h). */

/* p->known is false, with the reason said, if there is none. GS_OK, or reported. *run: its recording;
 * NULL: none. The caller frees it. */
struct tune_price_request {
    const char *platform, *out, *log; /* log: a file for what the command prints */
    char **command;
    double step_s, left_s; /* step_s: about; 0: unknown. left_s: for the visits */
    int64_t calls;         /* of a step; 0: unknown */
    long seed;
};
int tune_price_take(struct tune_price *p, const struct tune_price_request *q, char **run);
