#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# template: the plugin passes its check, and a short run ends in one row a cell.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"

ok 'the plugin is good' "$gradsync" check "$build/plugins/template.so"
like "$err" 'a block on 2 ranks was measured and is right' 'and a block was measured'
ok 'a run of two blocks' "$gradsync" run "$top/configs/template-local.ini" -q -o raw \
    --set measure:launches=1 --set measure:blocks=2 --set measure:max_blocks=2 \
    --set launch:oversubscribe=yes
ok 'is reduced' "$gradsync" query raw -q --export csv
is "$(grep -c template csv/summary.csv)" 6 'to a row a cell: three sizes, two methods'

done_testing
