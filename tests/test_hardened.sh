#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Programs and plugins are built hardened: position-independent, with checked library calls and
# stacks, and with tables of addresses that are read-only once loaded.
. "$(dirname "$0")/lib.sh"

# grep -q would end readelf by SIGPIPE, and pipefail takes that for a failure.
symbols() { readelf -Ws --dyn-syms "$1"; }
if symbols "$build/gradsync" | grep __asan_init >/dev/null; then
    skip_all 'a sanitizer is built in'
fi

relro() {
    readelf -Wl "$1" | grep GNU_RELRO >/dev/null && readelf -Wd "$1" | grep 'FLAGS.* NOW' >/dev/null
}
for program in gradsync gradsync-rank; do
    file=$build/$program
    [ -e "$file" ] || continue
    like "$(readelf -Wh "$file")" 'Type: +DYN' "$program is position-independent"
    ok "$program has read-only tables of addresses" relro "$file"
    like "$(symbols "$file")" '__stack_chk_fail' "$program checks its stack"
    like "$(symbols "$file")" '__v?snprintf_chk' "$program checks the size of buffers"
done
for file in "$build"/plugins/*.so "$build"/libgradsync-*.so; do
    ok "${file##*/} has read-only tables of addresses" relro "$file"
    [[ $file == *-audit.so ]] || # it has no buffer
        like "$(symbols "$file")" '__[a-z]*_chk' "${file##*/} checks stacks or buffers"
done
done_testing
