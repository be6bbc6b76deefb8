#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   readme.sh FILE >NEW    FILE, with what its ```console blocks' commands print here and now
#
# A line "$ COMMAND" of such a block is run; the lines up to the next are its output.
set -euo pipefail
inside='' # ```console
while IFS= read -r line; do
    case $line in
    '```console') inside=yes ;;
    '```') inside='' ;;
    '$ '*)
        if [ -n "$inside" ]; then
            printf '%s\n' "$line"
            bash -c "${line#\$ }"
            continue
        fi
        ;;
    *) [ -z "$inside" ] || continue ;;
    esac
    printf '%s\n' "$line"
done <"$1"
