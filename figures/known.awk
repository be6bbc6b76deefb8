# SPDX-License-Identifier: Apache-2.0
#
# After csv.awk, over summary.csv: fails unless each config of CONFIGS, a list with commas, is in a run
# that is to be drawn. shown: these, "P/W/RUN P/W/RUN".

NR == 1 {
    header()
    for (i = split(shown, run, " "); i >= 1; i--)
        is_shown[run[i]]
    next
}
{
    csv($0, f)
    if (!(get("platform") "/" get("workload") "/" get("run_id") in is_shown))
        next
    if (!known[get("config")]++)
        names = names (names == "" ? "" : ", ") get("config")
}

END {
    for (i = 1; i <= split(ENVIRON["CONFIGS"], asked, ","); i++)
        if (!(asked[i] in known)) {
            printf "CONFIGS: no recording to draw has a config '%s'; there are: %s\n", asked[i], names >"/dev/stderr"
            unknown = 1
        }
    exit unknown
}
