#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# Every fuzz target runs for a few seconds, a minute together; `make fuzz` takes longer. There is one
# for every reader of files: configs, claims, sites and labs, recordings, run folders, what suspects,
# links and advise read in them, campaigns, tables, the paper's numbers and the report, imports, steps,
# the file and the logs of a trial, and the output of a training.
. "$(dirname "$0")/lib.sh"

shopt -s nullglob
sources=("$top"/tests/fuzz/fuzz_*.c)
seconds=$((60 / ${#sources[@]}))
for source in "${sources[@]}"; do
    name=${source##*/} name=${name%.c}
    fuzzer=$build/fuzzing/fuzz/$name
    if ! command -v "${CLANG:-clang}" >/dev/null; then
        skip "$name" 'no clang here'
    else
        ok "$name finds nothing in $seconds seconds" bash "$top/tests/fuzz/run" "$fuzzer" "$seconds"
    fi
done
done_testing
