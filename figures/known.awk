# SPDX-License-Identifier: Apache-2.0
#
# After csv.awk, over every summary.csv to be drawn: fails unless each config of CONFIGS, a list with
# commas, is in one of them.

FNR == 1 { header(); next }
{
    csv($0, f)
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
