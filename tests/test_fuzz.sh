#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# Every fuzz target for ten seconds; `make fuzz` takes longer.
. "$(dirname "$0")/lib.sh"

shopt -s nullglob
for source in "$top"/tests/fuzz/fuzz_*.c; do
    name=${source##*/} name=${name%.c}
    fuzzer=$build/fuzzing/fuzz/$name
    if ! command -v "${CLANG:-clang}" >/dev/null; then
        skip "$name" 'no clang here'
    else
        ok "$name finds nothing in ten seconds" bash "$top/tests/fuzz/run" "$fuzzer" 10
    fi
done
done_testing
