# SPDX-License-Identifier: Apache-2.0
#
# The lines "target: … ## text" of makefiles under their "##@ Group" headings; a group that several
# files add to stands where it came up first.
/^##@ / {
    group = substr($0, 5)
    if (!(group in lines))
        order[++n] = group
    lines[group] = lines[group]
}
/^[a-z-]+:.*## / {
    name = text = $0
    sub(/:.*/, "", name)
    sub(/.*## /, "", text)
    while (match(text, /^[A-Z_]+=[^ ]+ /)) {
        name = name " " substr(text, 1, RLENGTH - 1)
        text = substr(text, RLENGTH + 1)
    }
    lines[group] = lines[group] sprintf("  %-24s %s\n", name, text)
}
END {
    print "gradsync: measures gradient synchronisation\n\nusage: make TARGET [NAME=value …]"
    for (i = 1; i <= n; i++)
        printf "\n%s\n%s", order[i], lines[order[i]]
}
