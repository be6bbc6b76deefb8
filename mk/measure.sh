#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
#   measure.sh GRADSYNC   measures platform `local`, unless a finished recording of it is here. One
#                         that was interrupted is completed. What failed is in the recording and was
#                         said, and the rest is worth drawing: it does not stop the figures.
set -uo pipefail
gradsync=$1
shopt -s nullglob
finished=(data/raw/local/*/*/MANIFEST.json)
[ ${#finished[@]} -eq 0 ] || exit 0

worst=0
tell() {
    "$@"
    local code=$?
    [ $code -le $worst ] || worst=$code
}
begun=(data/raw/local/*/*/plan.json)
for plan in "${begun[@]}"; do tell "$gradsync" resume "${plan%/plan.json}"; done
[ ${#begun[@]} -ne 0 ] || tell "$gradsync" run configs/local.ini
[ $worst -le 1 ] || exit $worst
