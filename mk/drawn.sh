#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   drawn.sh DRAWINGS GRADSYNC   names the figures that were drawn, and the commands that say what to
#                                set where training steps were measured, and show the latest run of
#                                this machine, or else of the platform that was drawn
set -euo pipefail
shopt -s nullglob
read -ra drawings <"$1" || true
figures=()
for file in "${drawings[@]}"; do [[ $file != *.svg || ! -e $file ]] || figures+=("$file"); done
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
