#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync model: what it knows of wan_sync and of its config. tests/golden has its output, and compares it
# with published and measured numbers.
. "$(dirname "$0")/lib.sh"
plan=$top/configs/wan-4site.ini

# ---- what a config may say of it; tests/golden/model.cmd has what is printed of plans
keys=$(for section in sites links model; do "$gradsync" help $section; done)
said=$(sed -n '/^\[sites\]/,$p' "$plan" | grep -v '^#' |
    sed -nE 's/^claim\.//; s/^(okstate|sdstate|mizzou|sdsc|'\
'source) = ?.*//; s/ = .*//p')
is "$(for key in $said; do grep -q "^  $key " <<<"$keys" || echo "$key"; done)" '' \
    'help knows every key of the plan'
like "$("$gradsync" help sites)" 'lan +rate, B/s' 'help explains a word of a site'

# ---- what it knows of wan_sync stands there
constant() { # NAME FILE: of a #define, as a number
    awk -v name="$1" '$1 == "#define" && $2 == name { print $3 + 0 }' "$top/$2"
}
is "$(constant FRAME_B plugins/common/wan_model.c)" \
    "$(sed -n 's/.*sizeof(struct tcp_frame) == \([0-9]*\),.*/\1/p' \
        "$top/plugins/wan_sync/transport/tcp.h")" \
    "the model counts a frame's head with the bytes that it has"
done_testing
