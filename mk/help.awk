# SPDX-License-Identifier: Apache-2.0
BEGIN { print "gradsync: measures gradient synchronisation\n\nusage: make TARGET [NAME=value …]" }
/^##@ / { printf "\n%s\n", substr($0, 5) }
/^[a-z-]+:.*## / {
    name = text = $0
    sub(/:.*/, "", name)
    sub(/.*## /, "", text)
    if (match(text, /^[A-Z]+=[^ ]+ /)) {
        name = name " " substr(text, 1, RLENGTH - 1)
        text = substr(text, RLENGTH + 1)
    }
    printf "  %-24s %s\n", name, text
}
