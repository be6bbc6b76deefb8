#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   renew.sh NEW OLD   OLD becomes what NEW holds, and NEW is gone. Files whose content stays keep
#                      their time; `stamp`, `runs` and hidden ones are left alone.
set -euo pipefail
new=$1 old=$2
(cd "$new" && find . -type d) | (cd "$old" && xargs -d '\n' mkdir -p)
(cd "$old" && find . -name '.?*' -prune -o -type f ! -name stamp ! -name runs -print) | while IFS= read -r f; do
    [ -e "$new/$f" ] || rm "$old/$f"
done
(cd "$new" && find . -type f) | while IFS= read -r f; do
    cmp -s "$new/$f" "$old/$f" || mv "$new/$f" "$old/$f"
done
rm -rf "$new"
