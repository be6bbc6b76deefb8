# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What benches share. Sourced first, it leaves them at the top of the checkout, with
#   $build $gradsync   the build folder, the program (absolute)
#   $tmp               a folder that goes at the end
#   calc DECIMALS EXPRESSION
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
