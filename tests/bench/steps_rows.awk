# SPDX-License-Identifier: Apache-2.0
#
# summary.csv and compare.csv of a run as lines "STEP LEVEL CONFIG MS PERCENT LOW HIGH". After
# csv.awk.
# A config that was skipped has no row in summary.csv; it is left out.

FNR == 1 { header(); next }
{ csv($0, f) }
FILENAME ~ /summary.csv$/ {
    if (get("median_s") != "") ms[get("config")] = 1e3 * get("median_s")
    next
}
get("ratio") != "" {
    if (!shown++) print step, level, "auto", ms["auto"], 0, 0, 0
    print step, level, get("config"), ms[get("config")], percent("ratio"), percent("ratio_low"),
        percent("ratio_high")
}
END { if (!shown) print step, level, "failed no contrast was measured" }
function percent(name) { return get(name) == "" ? "-" : sprintf("%.3f", 100 * (get(name) - 1)) }
