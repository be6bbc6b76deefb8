# SPDX-License-Identifier: Apache-2.0
#
# The panel of error_rates.csv, whose fields have no commas: a group for each quantity, a row for each method.

BEGIN { FS = "," }
NR == 1 { next }
$1 != quantity {
    quantity = $1
    y += n_groups ? 1.5 : 1
    headings = headings ", " quote($1)
    at = at ", " y
    n_groups++
}
{
    y++
    labels = labels ", " quote($2)
    places = places ", " y
    rates = rates y " " $4 " " $5 " " $6 "\n"
    if ($7 > 0) held = held y " " $7 "\n"
    if ($8 < 1) held = held y " " $8 "\n"
    campaigns = campaigns == "" || $3 < campaigns ? $3 : campaigns
    rows++
}
END {
    printf "title_of = \"how often verdicts are right and wrong\"\n"
    printf "detail = \"%d simulated campaigns of 5 launches; green: required rate\"\n", campaigns
    printf "platform = \"\"\nworkload = \"\"\nrows = %d\ngroups = %d\nlast = %g\n", rows, n_groups, y
    printf "array label[%d] = [%s]\narray place[%d] = [%s]\n", rows, substr(labels, 3), rows, substr(places, 3)
    printf "array heading[%d] = [%s]\narray heading_at[%d] = [%s]\n", n_groups, substr(headings, 3), n_groups, substr(at, 3)
    printf "$rates << EOD\n%sEOD\n$held << EOD\n%sEOD\n", rates, held
}
