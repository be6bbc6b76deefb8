/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers of tune, on stdout, and the settings in the form that a job takes.
 */
#pragma once

#include "compare/contrast.h"
#include "job/price.h"
#include "job/race.h"
#include "job/tune_setting.h"

/* Lists what would be tried for each link. GS_OK, or reported: the user's file has a fault, or --only
 * leaves nothing; that is also seen without `print`. */
int tune_say_settings(const struct tune_request *q, bool print);
/* other_share: of all_B bytes of a step, those by calls that no arm leaves out. */
void tune_say_price(const struct price_answer *p, double other_share, double all_B);
/* "38 of 40 MB a step". The caller frees it. */
char *tune_bytes_text(double share, double all_B);
/* True: communication costs too little for any setting to gain `worth`; it has said so. */
bool tune_say_worthless(const struct price_answer *p, double worth);
/* The winner, whose proof is the effect e. uncounted: launches of the proof that do not count, and why; or NULL.
 * python: print the lines to paste for Python, else for a shell. */
void tune_say_proven(const struct tune_setting *s, const struct effect *e, const char *uncounted,
                     const struct price_answer *p, bool python);
/* A setting that won inside the job, and that no launch can prove. */
void tune_say_inside(const struct tune_setting *s, const struct effect *e);
/* No setting was proven. `best`: the best that is not proven; 0: none; e: its proof, or NULL; floor: of the proof. */
void tune_say_nothing(const struct race *r, size_t tried, size_t best, const struct effect *e,
                      double floor, const char *uncounted);

/* The settings that were compared inside one launch, from a recording of it. GS_OK or reported. */
int tune_say_visits(const char *dir);

/* ---- the figure ---- */

struct tune_result {
    const struct race *race;
    const struct price_answer *price;
    double step_s; /* of the job as it is, over all launches */
    size_t winner;
    const struct effect *proof; /* of the winner; NULL: none */
    bool proven;
};

/* Bars in the terminal, if a setting was measured; and the same as SVG: GS_OK or reported. */
void tune_bars(const struct tune_result *r);
int tune_svg(const struct tune_result *r, const char *file);
