# SPDX-License-Identifier: Apache-2.0
#
# Lines "STEP LEVEL CONFIG MS PERCENT LOW HIGH" (or "STEP LEVEL absent|failed REASON") as a table, and
# for each step whether the levels agree with the training. "training" is the truth; without it,
# launches.

{
    step = $1
    level = $2
    if (!(step in seen)) { seen[step] = 1; steps[++n_steps] = step }
    if (!((step, level) in has)) { has[step, level] = 1; levels[step] = levels[step] " " level }
}
$3 == "absent" || $3 == "failed" {
    why = $0
    sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", why)
    none[step, level] = $3 == "failed" ? "FAILED: " why : "not available: " why
    next
}
{
    config = $3
    if (!(config in column)) { column[config] = ++n_configs; configs[n_configs] = config }
    ms[step, level, config] = $4
    percent[step, level, config] = $5
    low[step, level, config] = $6
    high[step, level, config] = $7
}
END { for (i = 1; i <= n_steps; i++) show(steps[i]) }

function is_contrast(config) { return config != "auto" && config !~ /^auto-again/ }
function number(x) { return x == "" || x == "-" ? "-" : sprintf("%+.2f", x) }
function show(step,    n, i, k, level, parts, truth) {
    printf "%s\n  %-10s %10s", step, "", "auto, ms"
    for (k = 1; k <= n_configs; k++)
        if (configs[k] != "auto") printf "  %-26s", configs[k] ", %"
    print ""
    n = split(levels[step], parts, " ")
    for (i = 1; i <= n; i++) row(step, parts[i])
    truth = ""
    if ((step, "training", "auto") in ms) truth = "training"
    else if ((step, "launches", "auto") in ms) truth = "launches"
    if (truth == "") { print "  no training to hold the levels against"; return }
    for (i = 1; i <= n; i++) judge(step, parts[i], truth)
}
function row(step, level,    k, c) {
    printf "  %-10s", level
    if ((step, level) in none) { print " " none[step, level]; return }
    c = ms[step, level, "auto"]
    printf " %10s", c == "" || c == "-" ? "-" : sprintf("%.3f", c)
    for (k = 1; k <= n_configs; k++) {
        c = configs[k]
        if (c == "auto") continue
        if (!((step, level, c) in percent)) printf "  %-26s", "-"
        else printf "  %-26s", number(percent[step, level, c]) " [" number(low[step, level, c]) \
            ", " number(high[step, level, c]) "]"
    }
    print ""
}
# The sign of what an interval says; 0: nothing, or less than half a point.
function side(step, level, c) {
    if (low[step, level, c] == "-") return 0
    return low[step, level, c] > 0.5 ? 1 : high[step, level, c] < -0.5 ? -1 : 0
}
function judge(step, level, truth,    k, c, d, most, worst, contrary, room) {
    if (level == truth || (step, level) in none) return
    for (k = 1; k <= n_configs; k++) {
        c = configs[k]
        if (!is_contrast(c) || !((step, level, c) in percent) || !((step, truth, c) in percent))
            continue
        d = percent[step, level, c] - percent[step, truth, c]
        if (d * d >= most * most) { most = d; worst = c }
        if (side(step, level, c) * side(step, truth, c) < 0) contrary = contrary " " c
    }
    if (worst == "") return
    room = level == "trial" || level == "launches" ? 0.5 : level == "step" ? 1 : 0
    if (room)
        verdict(level " differs from " truth " by at most " room " points",
            most * most <= room * room, sprintf("%+.2f (%s)", most, worst))
    else
        printf "  %-56s %s\n", level " differs from " truth " by up to",
            sprintf("%+.2f points (%s)", most, worst)
    if (room) verdict(level " has no verdict contrary to " truth, contrary == "", contrary)
    else if (contrary != "") printf "  %-56s%s\n", level " has verdicts contrary to " truth ":", contrary
    if (level == "step") {
        d = 100 * (ms[step, level, "auto"] / ms[step, truth, "auto"] - 1)
        verdict("the replayed step takes as long as PyTorch's, within 10%", d * d <= 100, sprintf("%+.1f%%", d))
    }
}
function verdict(what, good, value) { printf "  %-56s %s %s\n", what, good ? "ok" : "MISSED", value }
