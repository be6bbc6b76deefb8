#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   reference.sh make FOLDER [PIECE…]   writes what commit 02b7ff54 makes of the recordings into FOLDER
#   reference.sh [FOLDER [PIECE…]]      compares this tree, which must be built, with it: prints each
#                                       difference, and exits with 1 if one is not in reference.txt
# PIECE: csv (the tables of `make tables`), compare (of each platform), macros (of the paper), figures
# (every SVG). csv and compare take some seconds. FOLDER is build/reference by default.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C TZ=UTC
base=02b7ff54
make=
if [ "${1:-}" = make ]; then make=1 && shift; fi
mkdir -p "${1:-build/reference}" && folder=$(cd "${1:-build/reference}" && pwd) && shift $(($# > 0))
pieces=("$@") && [ $# != 0 ] || pieces=(csv compare macros figures)

# 02b7ff54 said what to set with another verb, and so it is not compared.
# Each function writes one piece, as made by the tree of the current folder, into the folder $1.
write_csv() {
    make -s tables >&2
    (cd data/csv && find . -name '*.csv' -exec cp --parents {} "$1" \;)
    rm -rf "$1/panels"
}
write_compare() {
    local p
    for p in data/raw/*/; do
        p=$(basename "$p")
        { build/gradsync compare "$p" 2>"$1/said" || echo "exit $?"; } | sed '/^What to set[,:]/,$d' >"$1/$p.txt"
        cat "$1/said" >>"$1/$p.txt" && rm "$1/said"
    done
}
write_macros() {
    make -s drawn ONLY= >&2
    make -s build/sim/error_rates.csv >&2 && cp build/sim/error_rates.csv data/csv
    if [ -e paper/numbers.sh ]; then
        bash paper/numbers.sh build/gradsync data/csv >"$1/macros.tex"
    else
        build/gradsync why -o "$1/why" >&2 && mv "$1/why/macros.tex" "$1" && rm -r "$1/why"
    fi
}
write_figures() {
    make -s drawn ONLY= >&2
    (cd figures/out && find . -name '*.svg' -exec cp --parents {} "$1" \;)
}

if [ "$make" ]; then
    [ -e "$folder/tree" ] || git worktree add --detach "$folder/tree" $base
    cd "$folder/tree" && make -s all >&2
    for piece in "${pieces[@]}"; do
        rm -rf "${folder:?}/$piece" && mkdir "$folder/$piece" && "write_$piece" "$folder/$piece"
    done
    exit
fi

now=$(mktemp -d) && trap 'rm -rf "$now"' EXIT
differences=0 intended=0
# Recordings that the reference does not have, such as those of this machine, are left out.
known() { awk -F, 'NR == FNR { old[$1]; next } FNR == 1 || $1 in old' "$1" "$2"; }
for piece in "${pieces[@]}"; do
    [ -d "$folder/$piece" ] || { echo "reference.sh: $folder has no $piece; write it with: bash tests/reference.sh make $folder $piece" >&2 && exit 2; }
    mkdir "$now/$piece" && "write_$piece" "$now/$piece"
    while IFS= read -r file; do
        old=$folder/$piece/$file new=$now/$piece/$file
        if [ "$piece" = macros ]; then # today's are those that the paper prints, in another order
            sort -u "$new" -o "$new" && grep -Fx -f "$new" "$old" | sort -u >"$now/old" && old=$now/old
        fi
        if [ ! -e "$old" ]; then continue; fi # a platform or table that the reference does not have
        if [ -e "$new" ] && { cmp -s "$old" "$new" || { [ "$piece" = csv ] && cmp -s "$old" <(known "$old" "$new"); }; }; then continue; fi
        if [ -e "$new" ]; then count=$(diff "$old" "$new" | grep -c "^[<>]" || true); else count=gone; fi
        if awk -v name="$piece/$file" -v count="$count" '!/^#/ && NF && name ~ "^" $1 "$" && ($2 == count || $2 == "any") { found = 1 }
            END { exit !found }' tests/reference.txt; then
            intended=$((intended + 1))
            continue
        fi
        differences=$((differences + 1))
        if [ "$count" = gone ]; then
            echo "$piece/$file: is no longer made"
        else
            echo "$piece/$file: $count lines differ"
            diff "$old" "$new" | head -n "${LINES_SHOWN:-6}" | cut -c 1-200 || true
        fi
    done < <(cd "$folder/$piece" && find . -type f -printf '%P\n' | sort)
done
echo "${pieces[*]}: $differences differences, and $intended intended ones of tests/reference.txt"
[ $differences = 0 ]
