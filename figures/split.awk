# SPDX-License-Identifier: Apache-2.0
#
# After csv.awk: the rows of platform and workload `of`, "P/W", in a file OUT/RUN/TABLE.csv for each of
# the runs. The folders are there.

NR == 1 {
    header()
    for (i = split(runs, name, " "); i >= 1; i--) {
        file[name[i]] = out "/" name[i] "/" table ".csv"
        print > file[name[i]]
    }
    next
}
{
    csv($0, f)
    if (get("platform") "/" get("workload") == of && get("run_id") in file)
        print > file[get("run_id")]
}
