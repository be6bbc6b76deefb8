# SPDX-License-Identifier: Apache-2.0
#
# A panel of curves. From wan_needed.csv: utilisation against rate by schedule, lines and published points.
# From wan_model.csv (rows of the sweep over H): efficiency against H by bits. No field has a comma.

BEGIN { FS = "," }
NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; model = "bits" in col; next }
model && $(col["sweep"]) != "every" { next }
{
    key = model ? $(col["bits"]) + 0 " bits" : $1
    if (!(key in at)) { at[key] = ++n; label[n] = key }
    i = at[key]
    if (model) {
        line[i] = line[i] $(col["every"]) + 0 " " 100 * $(col["efficiency"]) "\n"
        platform = $1; strategy = $(col["strategy"]); sites = $(col["sites"]); rate = $(col["rate_Bps"]) * 8e-9
    } else if ($2 == "model") line[i] = line[i] 100 * $3 " " $4 / 1e9 "\n"
    else points = points 100 * $3 " " $4 / 1e9 " " i "\n"
}
END {
    if (model) {
        printf "title_of = \"how often to synchronise\"\n"
        printf "detail = %s\n", quote(sprintf("%s: %s over %d sites of %.3g Gbit/s; model", platform, strategy, sites, rate))
    } else {
        printf "title_of = \"bandwidth needed\"\n"
        printf "detail = \"1e9 parameters, 0.1 s per step; points: Douillard et al. 2025\"\n"
    }
    printf "platform = \"\"\nworkload = \"\"\nn = %d\nmore = \"\"\n", n
    list = ""
    for (i = 1; i <= n; i++) list = list ", " quote(label[i])
    printf "array label[%d] = [%s]\n", n, substr(list, 3)
    for (i = 1; i <= n; i++) printf "$line%d << EOD\n%sEOD\n", i, line[i]
    printf "$points << EOD\n%sEOD\n", points == "" ? "0 -1 1\n" : points
}
