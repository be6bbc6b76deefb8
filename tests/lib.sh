# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# TAP for shell tests. A test sources this, calls plan N or, at its end, done_testing, and may use
#   $top $build $gradsync   the checkout, the build folder, the program (absolute)
#   $tmp                    a folder of its own, removed at the end; the test starts in it
#   gradsync WORD…          the program, called by that name: its messages hold no path of this machine
#   run COMMAND…            runs it, keeps $rc $out $err, never stops the test
#   ok NAME COMMAND…        passes when the command succeeds
#   exits CODE NAME COMMAND…  run, and pass when it exits with CODE
#   fails CODE REGEX COMMAND…  exits with CODE, and its standard error matches;   fails1 in one line
#   says REGEX COMMAND…     succeeds, and its standard error matches
#   prints REGEX COMMAND…   succeeds, and its standard output matches
#   is GOT WANT NAME        equal text;   isnt
#   like GOT REGEX [NAME]   bash's extended regex;   unlike
#   one_line TEXT [NAME]    exactly one line, not empty
#   skip NAME WHY           counts as passed, with the reason;   skip_all WHY ends the test
#   under_asan              whether the programs are those built with ASan
#   no_orphans NAME         nothing that this test started is running any more
#   until_true SECONDS COMMAND…   waits until COMMAND succeeds; fails when the seconds are over.
#                           Give it many: they are spent only when the test fails
#   csv FILE WHERE COLUMN…  the columns of the rows of a CSV file for which WHERE, a condition of awk
#                           with get("column"), holds: a line a row
#   build_sockets           builds ./sockets from tests/sockets.c
#   config FILE RANKS LINE…   a config that is measured in a moment: $blocks blocks (2) of $samples samples (1);
#                           the lines go on behind [measure]
#   measure CONFIG…         runs it anew: $dir is the run folder, $lines all lines that it recorded
#   count REGEX             how many of $lines match
#   latest FILE DIR         the latest run folder below DIR that has a file of that name
#   run_of                  the latest complete run below raw
set -uo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD:-$top/build}
[[ $build == /* ]] || build=$top/$build
# shellcheck disable=SC2034 # for the tests
gradsync=$build/gradsync
gradsync() { (exec -a gradsync "$gradsync" "$@"); }
export GRADSYNC_PLUGIN_PATH=$build/tests/plugins # the plugin null
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gradsync-test.XXXXXX")
# Every process started from here on carries the mark, whoever its parent becomes.
export GRADSYNC_TEST_MARK=mark.$$.$RANDOM$RANDOM
export LC_ALL=C TZ=UTC XDG_STATE_HOME=$tmp/.state
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES # a make that a test starts is its own
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

tap_n=0 tap_failed=0 tap_planned='' rc=0 out='' err=''

marked() { # the pids that carry the mark, but for this shell and its own children
    local p pid
    for p in /proc/[0-9]*; do
        pid=${p#/proc/}
        [ "$pid" = $$ ] && continue
        grep -qzsx "GRADSYNC_TEST_MARK=$GRADSYNC_TEST_MARK" "$p/environ" || continue
        [ "$(tap_parent "$pid")" = $$ ] && [ "$(cat "$p/comm" 2>/dev/null)" = bash ] && continue
        [ "$(cut -d' ' -f3 "$p/stat" 2>/dev/null)" = Z ] || echo "$pid"
    done
}
tap_parent() { awk '{ sub(/.*\) /, ""); print $2 }' "/proc/$1/stat" 2>/dev/null; }

tap_end() {
    local status=$? pids
    cd / || true
    pids=$(marked)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill -KILL $pids 2>/dev/null
    chmod -R u+w "$tmp" 2>/dev/null
    rm -rf "$tmp"
    if [ -z "$tap_planned" ]; then
        echo "# $0 ended without its plan (exit $status)" >&2
        exit 1
    fi
    exit $((tap_failed > 0 ? 1 : status))
}
trap tap_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# A misspelt helper must not pass for a test that was never made.
command_not_found_handle() {
    echo "# no command '$1' here" >&2
    kill -TERM $$
    return 127
}

plan() { tap_planned=$1 && echo "1..$1"; }
done_testing() { plan "$tap_n"; }
diag() { printf '%s\n' "$*" | sed 's/^/# /'; }
pass() { tap_n=$((tap_n + 1)) && echo "ok $tap_n - $1"; }
flunk() { # NAME DETAIL…
    tap_n=$((tap_n + 1)) tap_failed=$((tap_failed + 1))
    echo "not ok $tap_n - $1"
    shift
    [ $# = 0 ] || diag "$@" >&2
    return 0
}
skip() { tap_n=$((tap_n + 1)) && echo "ok $tap_n - $1 # SKIP $2"; }
skip_all() { tap_planned=0 && echo "1..0 # SKIP $1" && exit 0; }

run() {
    "$@" >"$tmp/.out" 2>"$tmp/.err"
    rc=$?
    out=$(cat "$tmp/.out") err=$(cat "$tmp/.err")
    return 0
}
ok() {
    local name=$1
    shift
    run "$@"
    if [ $rc = 0 ]; then pass "$name"; else flunk "$name" "exit $rc: $*"$'\n'"$out"$'\n'"$err"; fi
}
exits() {
    local want=$1 name=$2
    shift 2
    run "$@"
    if [ $rc = "$want" ]; then pass "$name"; else
        flunk "$name" "exit $rc, not $want: $*"$'\n'"$out"$'\n'"$err"
    fi
}
# A regex or a command as a name: TAP takes what follows a # for a directive.
tap_named() { tr '#\n' '* ' <<<"${*//"$tmp/"/}" | cut -c1-160; }
fails() { # CODE REGEX COMMAND…
    run "${@:3}"
    if [ $rc = "$1" ] && [[ $err =~ $2 ]]; then pass "$(tap_named "${*:3}")"; else
        flunk "$(tap_named "${*:3}")" "exit $rc, not $1: $out"$'\n'"got  '$err'"$'\n'"like '$2'"
    fi
}
fails1() {
    fails "$@"
    one_line "$err"
}
says() { tap_matches err "$@"; }
prints() { tap_matches out "$@"; }
tap_matches() { # VARIABLE REGEX COMMAND…
    run "${@:3}"
    if [ $rc = 0 ] && [[ ${!1} =~ $2 ]]; then pass "$(tap_named "${*:3}")"; else
        flunk "$(tap_named "${*:3}")" "exit $rc"$'\n'"$out"$'\n'"$err"$'\n'"$1 like '$2'"
    fi
}
is() { if [ "$1" = "$2" ]; then pass "$3"; else flunk "$3" "got  '$1'"$'\n'"want '$2'"; fi; }
isnt() { if [ "$1" != "$2" ]; then pass "$3"; else flunk "$3" "got '$1'"; fi; }
like() {
    local name=${3:-"it has $(tap_named "$2")"}
    if [[ $1 =~ $2 ]]; then pass "$name"; else flunk "$name" "got  '$1'"$'\n'"like '$2'"; fi
}
unlike() {
    local name=${3:-"it has no $(tap_named "$2")"}
    if [[ ! $1 =~ $2 ]]; then pass "$name"; else flunk "$name" "got    '$1'"$'\n'"unlike '$2'"; fi
}
one_line() {
    local name=${2:-it is one line}
    if [ -n "$1" ] && [ "$(wc -l <<<"$1")" = 1 ]; then pass "$name"; else flunk "$name" "got '$1'"; fi
}

under_asan() { [[ $build == */asan ]]; }
until_true() { # SECONDS COMMAND…
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}
csv() {
    awk -v names="${*:3}" "$(<"$top/tests/csv.awk")"'
        NR == 1 { header(); n = split(names, name, " "); next }
        { csv($0, f) }
        '"$2"' { for (i = 1; i <= n; i++) printf "%s%s", get(name[i]), i < n ? " " : "\n" }' "$1"
}
config() {
    printf '%s\n' '[launch]' "ranks = $2" 'oversubscribe = yes' 'bind = none' '[measure]' 'launches = 1' \
        "blocks = ${blocks:-2}" "max_blocks = ${blocks:-2}" "samples = ${samples:-1}" 'budget = 100ms' \
        'warmup = 1ms' 'warmup_ops = 1' 'seed = 5' "${@:3}" >"$1"
}
measure() {
    rm -rf data
    run "$gradsync" run -q -o data "$@"
    dir=$(echo data/*/*/*)
    lines=$(cat "$dir"/{launch,skipped}-*.jsonl 2>/dev/null)
}
count() { grep -c "$1" <<<"$lines"; }
latest() { find "$2" -name "$1" -printf '%T@ %h\n' | sort -n | tail -n 1 | cut -d' ' -f2; }
run_of() { latest MANIFEST.json raw; }
build_sockets() { "${CC:-gcc}" -D_GNU_SOURCE -o sockets "$top/tests/sockets.c"; }
tap_alone() { [ -z "$(marked)" ]; }
tap_describe() {
    local pid
    for pid; do echo "$pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"; done
}
no_orphans() {
    if until_true 60 tap_alone; then pass "$1"; else
        # shellcheck disable=SC2046
        flunk "$1" "still running:"$'\n'"$(tap_describe $(marked))"
    fi
}

cd "$tmp" || exit 1
