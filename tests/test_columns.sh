#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The columns of the tables against their definitions (reduce/summary.h, compare/verdicts.h): each row
# of every committed recording. Each rule is an awk program that prints the rows which break it.
. "$(dirname "$0")/lib.sh"
. "$top/tests/committed.sh"

cd "$top" || exit 1
ls data/raw/*/*/*/MANIFEST.json >/dev/null 2>&1 || skip_all 'no committed recording'
ok 'every committed recording is reduced and compared' committed_tables "$tmp/csv"

# obeys NAME TABLE PROGRAM: PROGRAM calls bad(WORDS) for a row that breaks the rule; v(COLUMN) is a
# number, t(COLUMN) a text, has(COLUMN) whether there is one. Each table is read once, for all its rules.
names=() tables=()
declare -A programs
obeys() {
    programs[$2]+="{ rule = ${#names[@]}; $3 }"$'\n'
    names+=("$1") tables+=("$2")
}
judge() {
    local i table
    for table in "${!programs[@]}"; do
        awk -f tests/csv.awk -f <(printf '%s\n' \
            'function t(c) {' \
            '    if (!(c in col) && c != "params") bad("no column " c)' \
            '    return get(c) }' \
            'function v(c) { return t(c) + 0 }' \
            'function has(c) { return t(c) != "" }' \
            'function bad(what) { if (++broken[rule] <= 3) print rule ": line " NR ": " what; }' \
            'NR == 1 { header(); next } { csv($0, f); rows++ }' "${programs[$table]}" \
            'END { for (r in broken) print r ": " broken[r] " rows of " rows; if (!rows) print "no rows" }') \
            "$tmp/csv/$table.csv" >"$tmp/$table.broken" 2>&1
    done
    for i in "${!names[@]}"; do
        is "$(grep -e "^$i: " -e '^[^0-9]' "$tmp/${tables[i]}.broken")" '' "${names[i]}"
    done
}

obeys 'an interval holds its median, and one launch has none' summary '
    if (has("ci_low_s") != (v("launches") > 1)) bad("an interval of " v("launches") " launches")
    inside = v("ci_low_s") <= v("median_s") && v("median_s") <= v("ci_high_s")
    if (has("ci_low_s") && !inside) bad("median outside")'
obeys 'one launch has no interval in iteration.csv' iteration '
    several = v("launches") > 1
    if (has("overlapped_ci_low_s") != several || has("exposed_ci_low_s") != several)
        bad("interval")'
for config in data/raw/*/*/*/config.ini; do
    echo "$(basename "$(dirname "$config")") $(sed -n 's/^precision *= *\([0-9.]*\)%.*/\1/p' \
        "$config")"
done >"$tmp/precision" # 1% where the config does not say, and for a trial, which has no config
obeys 'converged says whether the interval is as narrow as [measure] precision' summary '
    while (!asked && (getline line <"'"$tmp/precision"'") > 0) {
        split(line, word, " "); percent[word[1]] = word[2] == "" ? 1 : word[2] }
    asked = 1
    half = (v("ci_high_s") - v("ci_low_s")) / 2
    of = t("run_id") in percent ? percent[t("run_id")] : 1
    narrow = has("ci_low_s") && half <= of / 100 * v("median_s")
    if (t("status") == "ok" && (t("converged") == "yes") != narrow)
        bad("converged=" t("converged"))'
obeys 'warm-up is at most half of a launch' summary '
    if (2 * v("warmup_blocks") > v("warmup_blocks") + v("blocks"))
        bad("warm-up of " v("warmup_blocks"))'
obeys 'a T_ss of fewer than 16 operations has a note, and no other time has' summary '
    few = t("params") ~ /metric=T_ss/ && has("iterations") && v("iterations") < 16
    if (few != (t("note") ~ /T_ss over/)) bad("T_ss over " t("iterations") ": " t("note"))'
obeys 'a GPU that idles beside a network is not throttled' summary '
    if (t("platform") ~ /^wan-lab-1/ && v("throttled") > 0) bad("throttled=" t("throttled"))'
for table in summary iteration; do
    obeys "a row is noted as throttled only if most readings are: $table" $table '
        if (has("throttled") && (v("throttled") < 0 || v("throttled") > 1)) bad("throttled=" \
            t("throttled"))
        if ((v("throttled") > 0.5) != (t("note") ~ /power cap/))
            bad("throttled=" t("throttled") ": " t("note"))'
done
obeys 'overlap is there exactly if communication is 1% of compute, with an interval' iteration '
    told = v("comm_s") >= 0.01 * v("compute_s")
    if (has("overlap") != told || has("overlap_ci_low") != (told && v("launches") > 1))
        bad("overlap=" t("overlap"))
    inside = v("overlap_ci_low") <= v("overlap") && v("overlap") <= v("overlap_ci_high")
    if (has("overlap_ci_low") && !inside) bad("outside")'

# compared NAME PROGRAM: the same for each table of verdicts
compared() {
    local table
    for table in compare chosen again; do obeys "$1: $table.csv" $table "$2"; done
}
compared 'a ratio lies in its interval' '
    inside = v("ratio_low") <= v("ratio") && v("ratio") <= v("ratio_high")
    if (has("ratio") && !inside) bad("ratio outside")
    if (has("ratio") != (v("launches") > 1)) bad("a ratio of " v("launches") " launches")'
compared "Holm's adjustment does not lower a p" '
    if (has("p_holm") && v("p_holm") < v("p_interval")) bad("p_holm < p_interval")
    if (t("p_holm_of") == "both" && v("p_holm") < v("p_permutation")) bad("p_holm < p_permutation")
    if (has("p_holm") != (t("p_holm_of") ~ /^(interval|both)$/)) bad("p_holm_of=" t("p_holm_of"))'
compared 'a p below 0.05 stands beside an interval without 1' '
    spans = v("ratio_low") <= 1 && v("ratio_high") >= 1
    if (has("p_interval") && v("p_interval") < 0.05 && spans) bad("p_interval=" t("p_interval"))
    if (has("p_holm") && v("p_holm") < 0.05 && spans) bad("p_holm=" t("p_holm"))'
compared 'a difference is significant and beyond the floor and the bounds of equivalence' '
    sign = t("verdict") == "faster" ? -1 : t("verdict") == "slower" ? 1 : 0
    near = sign < 0 ? 1 / v("ratio_high") : v("ratio_low")
    if (sign && !has("floor")) bad("a verdict without a floor")
    beyond = near > 1 + v("floor") && log(v("ratio")) * sign > log(1 + v("equivalence"))
    if (sign && !(beyond && v("p_holm") < 0.05))
        bad(t("verdict") " by " t("ratio"))'
compared 'an equivalent ratio lies inside the bounds of equivalence and has a floor' '
    inside = v("ratio_low") > 1 / (1 + v("equivalence")) && v("ratio_high") < 1 + v("equivalence")
    if (t("verdict") == "equivalent" && !(has("floor") && inside))
        bad("equivalent from " t("ratio_low") " to " t("ratio_high"))'
compared 'every verdict names its level, and only steps are of a step' '
    steps = t("workload") == "iter_proxy" && t("mode") ~ /^(sequential|overlapped)$/
    level = steps ? (" " t("params") ~ / step=[^ ]/ ? "step" : "synthetic") : "alone"
    if (t("workload") == "trial") level = "trial"
    if (t("workload") == "train") level = "training"
    if (level ~ /^tr/ && t("config") ~ /^(none|half|one|control)$/) level = "price"
    if (t("level") != level) bad(t("mode") " is " t("level"))'
compared 'an inconclusive verdict has a reason, and no floor is negative' '
    if (t("verdict") == "inconclusive" && !has("reason")) bad("no reason")
    if (has("floor") && v("floor") < 0) bad("floor below 0")'
judge
done_testing
