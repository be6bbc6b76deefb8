#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes minutes
#
# Transcripts, also under ASan: tests/golden/NAME.cmd is a session, whose lines "$ COMMAND" are shown
# and run, and whose other lines are run alone; NAME.out is what comes of it. Errors are behind "!".
# A session with a line "# Not under ASan" is left out there: its parsers are fuzzed with it.
# One with a line "# Needs PROGRAM" is left out where that program is not.
# RENEW=1 (make golden) writes the transcripts anew: read the diff. NAME as an argument: that one alone.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

show() { # COMMAND
    local rc
    echo "\$ $1"
    eval "$1" >"$tmp/.out" 2>"$tmp/.err"
    rc=$?
    cat "$tmp/.out"
    sed 's/^/! /' "$tmp/.err"
    [ $rc = 0 ] || echo "[exit $rc]"
}
session() { # FILE: what it prints, without the paths of this machine
    local script
    script=$(sed "/^\\$ /{s/'/'\\\\''/g; s/^\\$ \\(.*\\)/show '\\1'/}" "$1")
    mkdir session && cd session && eval "$script" |
        sed -E "s|$tmp/session/||g; s|$tmp|TMP|g; s|$build|BUILD|g; s|$top/||g; s|[0-9]{8}T[0-9]{6}Z-imported-[0-9a-f]{4}|RUN|g; s|(this gradsync) [0-9.]+|\1 VERSION|"
}

for cmd in "$top"/tests/golden/${1:-*}.cmd; do
    want=${cmd%.cmd}.out name=$(basename "${cmd%.cmd}")
    under_asan && grep -q '^# Not under ASan' "$cmd" && continue
    needed=$(sed -n 's/^# Needs //p' "$cmd")
    if [ -n "$needed" ] && ! command -v "$needed" >/dev/null; then
        skip "the transcript $name" "no $needed here"
        continue
    fi
    (session "$cmd") >got 2>&1
    rm -rf session
    [ -z "${RENEW:-}" ] || cp got "$want"
    ok "the transcript $name is as it was" diff -u "$want" got
done
done_testing
