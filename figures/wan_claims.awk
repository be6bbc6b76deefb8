# SPDX-License-Identifier: Apache-2.0
#
# The panel of wan_claims.csv: a row for each claim that has a ratio, claimed over what the plan reaches.

# Both ends of a range in the unit of its high end.
function unit_of(x, unit) {
    if (unit == "s") return x >= 259200 ? "86400 d" : x >= 7200 ? "3600 h" : x >= 1 ? "1 s" : "1e-3 ms"
    return unit == "B" ? "1e9 GB" : unit == "" ? "0.01 %" : x >= 1e6 ? "1e6 M/s" : "1e3 k/s"
}
function range(low, high, unit,    u) {
    split(unit_of(high, unit), u, " ")
    return (low == high ? "" : sprintf("%.3g–", low / u[1])) sprintf("%.3g %s", high / u[1], u[2])
}
BEGIN { FS = "," }
NR == 1 || $2 == "nccl_buffsize" { next }
{
    y++
    what = $2; gsub(/_/, " ", what); sub(/ per s$/, "/s", what)
    labels = labels ", " quote(what)
    words = words ", " quote(range($5, $6, $4) " → " range($8, $8, $4))
    rows = rows y " " $5 / $8 " " $6 / $8 " " ($9 == "possible" ? 4 : 2) "\n"
    platform = $1
}
END {
    if (!y)
        print "n = 0"
    printf "title_of = \"claims of a plan over what it reaches\"\ndetail = %s\n", quote(platform "; right: claimed → reached")
    printf "platform = \"\"\nworkload = \"\"\nrows = %d\narray label[%d] = [%s]\narray word_of[%d] = [%s]\n", y, y, substr(labels, 3), y, substr(words, 3)
    printf "$claims << EOD\n%sEOD\n", rows
}
