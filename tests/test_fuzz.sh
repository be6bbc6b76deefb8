#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# Every fuzz target reads some inputs, the same ones each time; `make fuzz` takes others, and longer. There
# is one for every reader of files: configs, claims, sites and labs, recordings, run folders, what
# links reads in them, campaigns, tables, imports,
# steps, the file and the logs of a trial, the state of a tune, the output of a training, and texts with secrets.
. "$(dirname "$0")/lib.sh"
command -v "${CLANG:-clang}" >/dev/null || skip_all 'no clang here'

inputs() { # TARGET: as many as it reads in a second or two
    case $1 in
    fuzz_tables | fuzz_watch) echo 150 ;;
    *) echo 3000 ;;
    esac
}
for source in "$top"/tests/fuzz/fuzz_*.c; do
    name=${source##*/} name=${name%.c}
    ok "$name finds nothing" bash "$top/tests/fuzz/run" "$build/fuzzing/fuzz/$name" "$(inputs "$name")" inputs
done
done_testing
