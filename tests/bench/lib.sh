# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What benches share. Sourced first, it leaves them at the top of the checkout, with
#   $build $gradsync   the build folder, the program (absolute)
#   $tmp               a folder that goes at the end
#   calc DECIMALS EXPRESSION
#   best_of N COMMAND…   runs it N times: its least wall time in $wall and CPU time in $cpu, in seconds, and its most memory
#                        in $mib. What does not exit with $exit (default 0) ends the bench: a command that is refused
#                        is quick. Each run begins without the folder $output
#   row WHAT VALUE RELATION TARGET UNIT   a line, beside what it is held to; missed=1 when it
#                                         misses that
# shellcheck disable=SC2034 # for the benches
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C TZ=UTC
build=${BUILD:-build}
[[ $build == /* ]] || build=$PWD/$build
gradsync=$build/gradsync missed=0
export GRADSYNC_PLUGIN_PATH=$build/tests/plugins # the plugin null
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gradsync-bench.XXXXXX")
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

calc() { awk "BEGIN { printf \"%.$1f\", $2 }"; }
row() {
    local verdict=ok
    awk "BEGIN { exit !($2 $3 $4) }" || verdict=MISSED missed=1
    printf '%-62s %10s %-4s %2s %-6s %s\n' "$1" "$2" "$5" "$3" "$4" "$verdict"
}
best_of() {
    local n rc output=${output:-$tmp/output}
    : >"$tmp/used"
    for ((n = $1; n > 0; n--)); do
        [ ! -e "$output" ] || { chmod -R u+w "$output" && rm -r "$output"; }
        rc=0
        "$build/bench/usage" "${@:2}" >"$tmp/printed" 2>"$tmp/err" || rc=$?
        [ $rc = "${exit:-0}" ] || { echo "bench: exit $rc: ${*:2}: $(tail -n 5 "$tmp/err")" >&2 && exit 1; }
        tail -n 1 "$tmp/printed" >>"$tmp/used"
    done
    read -r wall cpu mib < <(awk '
        NR == 1 || $1 < wall { wall = $1 }
        NR == 1 || $2 < cpu { cpu = $2 }
        $3 > most { most = $3 }
        END { print wall, cpu, most / 1048576 }' "$tmp/used")
}
