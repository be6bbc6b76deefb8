#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   docs.sh GRADSYNC FILE >NEW   FILE, whose lists are what GRADSYNC prints here and now: between the
#                                lines "<!-- gradsync ARG… -->" and "<!-- end -->"
set -euo pipefail
keep=yes
while IFS= read -r line; do
    [ "$line" != '<!-- end -->' ] || keep=yes
    [ -z "$keep" ] || printf '%s\n' "$line"
    if [[ $line == '<!-- gradsync '*' -->' ]]; then
        read -ra words <<<"${line//[<>!]/}"
        "$1" "${words[@]:2:${#words[@]}-3}"
        keep=
    fi
done <"$2"
