#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   drawn.sh LIST GRADSYNC               names the figures of LIST, and the commands that say what to set where
#                                        training steps were measured, and show the latest run of this
#                                        machine, or else of the platform that was drawn
#   drawn.sh --clean FOLDER ONLY NAME…   writes FOLDER/list, the figures of these drawings (figures/draw). If
#                                        ONLY is empty, they are all: removes every other one
#   drawn.sh --lost FOLDER               prints the stamps of drawings that lack a figure
set -euo pipefail
shopt -s nullglob
if [ "$1" = --lost ]; then
    [ ! -d "$2" ] || find "$2" -mindepth 2 -name list | while read -r list; do
        while read -r _ file _; do
            file=figures/out/$file
            [[ -e $file.svg && -e $file.png && -e $file.pdf ]] || { echo "${list%list}stamp" && break; }
        done <"$list"
    done
    exit
fi
if [ "$1" = --clean ]; then
    folder=$2 only=$3
    shift 3
    mkdir -p "$folder"
    lists=("${@/#/$folder/}")
    lists=("${lists[@]/%//list}")
    cat /dev/null "${lists[@]}" | cut -d' ' -f2 >"$folder/list.new"
    [ -s "$folder/list.new" ] || echo 'no recording to draw; measure with make run PLATFORM=…, or draw those of this repository with make figures-all' >&2
    if cmp -s "$folder/list.new" "$folder/list"; then rm "$folder/list.new"; else mv "$folder/list.new" "$folder/list"; fi
    [ -z "$only" ] || exit 0
    printf '%s\n' "${lists[@]%/list}" >"$folder/wanted"
    find "$folder" -name stamp -printf '%h\n' | { grep -vxFf "$folder/wanted" || true; } | xargs -r rm -r
    rm "$folder/wanted"
    for file in figures/out/*/*.*; do
        name=${file#figures/out/}
        grep -qxF "${name%.*}" "$folder/list" || rm -f "$file"
    done
    exit
fi
figures=()
while read -r name; do [ ! -e "figures/out/$name.svg" ] || figures+=("figures/out/$name.svg"); done <"$1"
[ ${#figures[@]} -ne 0 ] || exit 0
platform=$(cut -d/ -f3 <<<"${figures[0]}")
mapfile -t folders < <(printf '%s\n' "${figures[@]%/*}" | sort -u)
if [[ " ${folders[*]} " == *" figures/out/local "* ]]; then platform=local; fi
runs=(data/raw/"$platform"/*/*/MANIFEST.json)
latest=$(printf '%s\n' "${runs[@]%/MANIFEST.json}" | sort -t/ -k5 | tail -n 1)
if [ ${#folders[@]} -gt 1 ]; then
    printf 'figures: %s in figures/out/, as SVG, PDF and PNG\n' "${#figures[@]}"
else
    printf '%s\n' "${figures[@]}"
fi
if [[ " ${figures[*]} " == *" figures/out/$platform/answer.svg "* ]]; then
    echo "what to set: $2 compare $platform"
fi
if [ -n "$latest" ]; then echo "show the result: build/gradsync show $latest"; fi
