#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   sums.sh --check GRADSYNC   every file in data/SHA256SUMS is as it was when it was entered, every
#                              committed recording is entered, and every recording is sound in itself
#   sums.sh --add GRADSYNC     enters the finished recordings that are not; changes no line. What is
#                              below data/raw/local is of whatever machine one is at, and for no commit
set -euo pipefail
export LC_ALL=C
sums=data/SHA256SUMS gradsync=$2
entered() { if [ -e "$sums" ]; then sed 's/^[0-9a-f]*  //' "$sums" | sort; fi; }
finished() { # the files of runs with a manifest
    find data/raw -path data/raw/local -prune -o -name MANIFEST.json -printf '%h\n' | sort | while IFS= read -r run; do
        find "$run" -type f
    done | sort
}

if [ "$1" = --add ]; then
    "$gradsync" check data/raw
    comm -13 <(entered) <(finished) | while IFS= read -r f; do sha256sum "$f"; done >>"$sums"
    echo "$sums: $(wc -l <"$sums") files"
    exit 0
fi

bad=0
if [ -s "$sums" ] && ! sha256sum --check --quiet "$sums"; then
    echo "$sums: 'git checkout' brings back what was changed; of a recording that was given up, delete its lines" >&2
    bad=1
fi
if git rev-parse --git-dir >/dev/null 2>&1; then
    while IFS= read -r f; do
        echo "$f: committed but not in $sums; 'make sums' enters it" >&2
        bad=1
    done < <(comm -13 <(entered) <(git ls-files data/raw | sort))
fi
if [ -d data/raw ]; then "$gradsync" check data/raw || bad=1; fi
[ $bad = 0 ] || exit 1
echo "verify: the $(entered | wc -l) files in $sums are as they were entered, and every recording is sound"
