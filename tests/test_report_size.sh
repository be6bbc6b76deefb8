#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The page of all platforms can be sent by mail: at most 3.5 MB. The figures of all recordings are 1 MB of
# it; they take minutes to draw, so the page of this test has none and must stay below 2.3 MB.
. "$(dirname "$0")/lib.sh"
. "$top/tests/committed.sh"

ok 'the tables of the recordings are made' committed_tables "$tmp/csv"
cd "$top" || exit 1
ok 'a page of all platforms is made' \
    "$gradsync" report -q --all --csv "$tmp/csv" --figures "$tmp/none" -o "$tmp/page.html"
size=$(wc -c <"$tmp/page.html")
is "$((size > 500000 && size < 2300000))" 1 'the page without figures has less than 2.3 MB'
diag "$size bytes"
done_testing
