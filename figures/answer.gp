# SPDX-License-Identifier: Apache-2.0
#
# The time of each training step with the config that has the highest bandwidth, against the best other config, by level
# of evidence. Where no bandwidth was measured: the time with the baseline. If the platform has no bandwidths at all, as the
# jobs of tune, it is the other way round: the time with the best other config, against the baseline.
# Filled: a verdict. Hollow: inconclusive. The scale is linear up to twice the time, else logarithmic.

load data
load "figures/words.gp"
load "figures/verdict.gp"
y_title = ""
ROW = rows > 30 ? 0.105 : 0.125
stats $lost using 4 nooutput
high = STATS_max
stats $lost using 3 nooutput
whole = high <= 2 && STATS_min >= 0.5 # no interval is cut
stats $lost using 2 nooutput
high = !whole && high > 1.6 * STATS_max ? 1.6 * STATS_max : high
low = STATS_min / 1.6
stats $lost using 3 nooutput
low = whole || STATS_min > low ? STATS_min : low
far = !whole
cut = strlen(not_shown) > 60 ? strstrt(not_shown, "; ") : 0
if (cut) { not_shown = not_shown[1 : cut] . "\n" . not_shown[cut + 2 : *] }
KEY = 0.12 + (far ? 0.12 : 0) + (not_shown eq "" ? 0 : cut ? 0.24 : 0.12)
longest = 1
widest = 18
do for [i = 1 : rows] {
    longest = strlen(label[i]) > longest ? strlen(label[i]) : longest
    widest = strlen(pair[i]) - 2 > widest ? strlen(pair[i]) - 2 : widest
}
LEFT = 0.18 + 0.052 * longest
RIGHT = 0.18 + 0.046 * widest
# Long names stand above their bars, so that the bars have room.
above = 3.4 - LEFT - RIGHT < 1
stacked = 0
if (above) {
    LEFT = 0.2; RIGHT = 0.2
    do for [i = 1 : rows] {
        room = floor((3.22 - 0.048 * strlen(label[i])) / 0.058)
        # Without room for both settings, the second one stands alone, and without room beside the name below it.
        if (strlen(pair[i]) - 2 > room && strstrt(pair[i], "→")) { pair[i] = substr(pair[i], strstrt(pair[i], "→"), strlen(pair[i])) }
        if (strlen(pair[i]) > room) { stacked = 1 }
        if (strlen(pair[i]) > 62) { pair[i] = "…" . substr(pair[i], strlen(pair[i]) - 60, strlen(pair[i])) }
    }
    ROW = stacked ? 0.38 : 0.27
}
PLOT = 0.05 + ROW * last + (above ? 0.1 : 0)
with = "step time with the config of the highest bandwidth"
detail = of_baseline == 0 ? with . "\nagainst the best other config" : of_proof == rows ? \
    "step time with the setting of the proof\nagainst the job as it is" : of_bandwidth == 0 ? \
    "step time with the best other config\nagainst the baseline" : \
    "step time with the highest bandwidth, or with the baseline\nwhere none was measured, against the best other config"
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
# A name hides the axis behind it.
set style textbox opaque noborder fillcolor rgb "#FFFFFF" margins 0.3, 0.3
set label 500 platform at screen 0.5, 1 - 0.08 / HEIGHT center

where(r) = far ? spread(r) : 100 * (r - 1)
low = low > 0.995 ? 0.995 : low
high = high < 1.02 ? 1.02 : high
margin = 0.04 * (where(high) - where(low))
set xrange [where(low) - margin : where(high) + margin]
set yrange [last + 0.6 : 0.2 - (above ? 0.1 / ROW : 0)]
if (far) {
    load "figures/spread.gp"
} else {
    span = where(high) - where(low)
    least = span * 0.32 / (WIDTH - LEFT - RIGHT)
    each = least > 25 ? 50 : least > 20 ? 25 : least > 10 ? 20 : least > 5 ? 10 : least > 2 ? 5 : least > 1 ? 2 : 1
    set xtics ()
    do for [v = -10 : 20] {
        set xtics add (v == 0 ? "0" : sprintf("%s%d%%%%", v < 0 ? "−" : "+", abs(v * each)) v * each)
    }
}
set label 503 "← shorter step · longer step →" at screen 0.5, (KEY + 0.10) / HEIGHT center
set ytics scale 0 ()
if (above) { unset ytics }
do for [i = 1 : rows] {
    if (above) {
        set label 20 + i label[i] at screen 0.1 / WIDTH, first place[i] - (stacked ? 0.24 : 0.12) / ROW left front boxed font ",6.5"
        set label 3000 + i pair[i] at screen 1 - 0.06 / WIDTH, first place[i] - 0.12 / ROW right front boxed font ",6.2" textcolor rgb "#404040"
    } else {
        set ytics add (label[i] place[i])
        set label 20 + i pair[i] at graph 1, first place[i] offset 0.8, 0 left font ",6.2" textcolor rgb "#404040"
    }
}
if (!above) { set ytics font ",6.5" }
set grid noytics
set border 1
do for [g = 1 : groups] { set label 4000 + g heading[g] at screen 0.06 / WIDTH, first heading_at[g] - (stacked ? 0.13 : above ? 0.02 : 0) / ROW left front boxed font ",7" textcolor rgb "#000000" }
set label 504 (of_proof == rows ? "setting" : (of_bandwidth ? "highest bandwidth" : "baseline") . " → best other") at screen 1 - 0.04 / WIDTH, 1 - (TOP - 0.06) / HEIGHT right font ",6" textcolor rgb "#404040"
set arrow 1 from first 0, graph 0 to first 0, graph 1 nohead linewidth 0.8 linecolor rgb "#404040" back
set label 506 not_shown at screen 0.5, ((far ? 0.18 : 0.06) + (cut ? 0.12 : 0)) / HEIGHT center textcolor rgb "#404040"
set label 507 "● verdict ○ inconclusive bar: 95% interval" at screen 0.5, (KEY - 0.05) / HEIGHT center
do for [i = 1 : rows] { # an interval that goes on
    if (real(word($lost[i], 4)) > high) { set label 1000 + i "→" at first where(high), first real(word($lost[i], 1)) center }
    if (real(word($lost[i], 3)) < low) { set label 2000 + i "←" at first where(low), first real(word($lost[i], 1)) center }
}
clip(r) = r > high ? high : r < low ? low : r
plot $lost using ($5 == 2 ? NaN : where($2)):1:(where(clip($3))):(where(clip($4))) with xerrorbars pointtype 7 pointsize 0.01 linewidth 1.1 \
        dashtype solid linecolor rgb "#505050", \
    $lost using ($5 == 1 ? where($2) : NaN):1 with points pointtype 7 pointsize 0.55 linecolor rgb "#000000", \
    $lost using ($5 == 0 ? where($2) : NaN):1 with points pointtype 7 pointsize 0.55 linecolor rgb "#000000", \
    $lost using ($5 == 0 ? where($2) : NaN):1 with points pointtype 7 pointsize 0.34 linecolor rgb "#FFFFFF"
