#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   sums.sh --check GRADSYNC   every file in data/SHA256SUMS is as it was when it was entered, every
#                              committed recording is entered, and every recording is sound in itself
#   sums.sh --add GRADSYNC     enters the recordings that are finished or committed and not yet entered;
#                              changes no line. data/raw/local is any machine's, so it is left out
set -euo pipefail
export LC_ALL=C
sums=data/SHA256SUMS gradsync=$2
entered() { if [ -e "$sums" ]; then sed 's/^[0-9a-f]*  //' "$sums" | sort; fi; }
finished() { # the files of runs with a manifest
    find data/raw -path data/raw/local -prune -o -name MANIFEST.json -printf '%h\n' | sort | while IFS= read -r run; do
        find "$run" -type f
    done | sort
}
committed() { if git rev-parse --git-dir >/dev/null 2>&1; then git ls-files data/raw | sort; fi; }

runs() { # folders below data/raw that hold a recording, with a manifest (-e) or without (! -e)
    find data/raw -name 'launch-*.jsonl' -printf '%h\0' | sort -zu | while IFS= read -rd '' run; do
        if test "$@" "$run/MANIFEST.json"; then printf '%s\0' "$run"; fi
    done
}
# Finished runs as a whole; of an unfinished one each recording, in itself. That it is unfinished is
# no fault, unless its manifest is in $sums: sha256sum misses it then. One that was entered as it is
# needs no remark.
check_runs() {
    local bad=0 run
    [ -d data/raw ] || return 0
    runs -e | xargs -0 -r "$gradsync" check -q || bad=1
    while IFS= read -rd '' run; do
        find "$run" -name 'launch-*.jsonl' -print0 | xargs -0 -r "$gradsync" check -q || bad=1
        entered | grep -F "$run/" >/dev/null ||
            echo "$run: unfinished, which is harmless here: 'gradsync resume $run' completes it" >&2
    done < <(runs ! -e)
    return $bad
}

if [ "$1" = --add ]; then
    check_runs
    comm -13 <(entered) <(sort -u <(finished) <(committed)) | while IFS= read -r f; do sha256sum "$f"; done >>"$sums"
    echo "$sums: $(wc -l <"$sums") files"
    exit 0
fi

bad=0
if [ -s "$sums" ] && ! sha256sum --check --quiet "$sums"; then
    echo "$sums: restore a changed file with 'git checkout'" >&2
    bad=1
fi
while IFS= read -r f; do
    echo "$f: committed but not in $sums; 'make sums' enters it" >&2
    bad=1
done < <(comm -13 <(entered) <(committed))
check_runs || bad=1
[ $bad = 0 ] || exit 1
echo "verify: the $(entered | wc -l) files in $sums are as they were entered, and every recording is sound"
