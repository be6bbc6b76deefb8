#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a user sees: help in a screen, and colour where it is wanted. (also under ASan)
# Names and what show prints are in tests/golden/terminal.cmd.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"
export GRADSYNC_PLUGIN_PATH=$build/plugins:$build/tests/plugins
unset NO_COLOR

# ---- help ----

ok 'help succeeds' gradsync help
is "$(awk 'length > 80' <<<"$out")" '' 'help is at most 80 columns wide'
is "$(awk 'END { print NR <= 24 }' <<<"$out")" 1 'help fits a screen of 24 lines'
verbs=$("$gradsync" help verbs)
for verb in $verbs; do
    is "$([[ $out =~ (^|[^a-z])$verb([^a-z]|$) ]] && echo told)" told "help lists the verb $verb"
    is "$("$gradsync" help "$verb" | head -2)" "$("$gradsync" "$verb" --help | head -2)" \
        "help $verb is $verb --help"
    is "$(gradsync "$verb" --help | awk 'length > 80' | grep -v '^gradsync')" '' \
        "help of $verb fits 80 columns"
    like "$(gradsync "$verb" --help)" $'\nexample\n  gradsync '"$verb" \
        "help of $verb has an example"
done
for section in platform launch measure slurm cost limits reference links model; do
    ok "help has a page for $section" "$gradsync" help "$section"
    is "$(awk 'length > 80' <<<"$out")" '' "help of $section fits 80 columns"
done
like "$("$gradsync" help measure)" \
    'blocks .*integer .*default 20.*minimum blocks per launch.*1\.\.1000000' \
    'a key has its type, default, meaning and range'
like "$("$gradsync" help config)" '\[measure\].*\[PLUGIN\]' 'help config lists the sections'

# ---- colours and widths

whole_run data/raw/p/null/20250101T000000Z-abcd
prints $'size +config .*\n8 .* a .*\n8 .* b ' "$gradsync" show p
unlike "$out" $'\033' 'show uses no colour in a pipe'
on_a_terminal() { script -qec "$1" /dev/null </dev/null; }
if command -v script >/dev/null; then
    like "$(TERM=xterm-256color on_a_terminal "'$gradsync' show p")" $'\033' \
        'show uses colours on a terminal'
    unlike "$(NO_COLOR=1 TERM=xterm on_a_terminal "'$gradsync' show p")" $'\033' \
        'show uses no colour under NO_COLOR'
    like "$(NO_COLOR='' TERM=xterm on_a_terminal "'$gradsync' show p")" $'\033' \
        'an empty NO_COLOR does not turn colours off'
    unlike "$(TERM=dumb on_a_terminal "'$gradsync' show p")" $'\033' \
        'show uses no colour on a dumb terminal'
    is "$(cd "$top" && NO_COLOR=1 on_a_terminal \
        "stty cols 80 rows 30; PATH='$build':\$PATH gradsync show h200-2gpu-steps 2>&1" | tr -d '\r' |
        sed 's/…/./g' | awk 'length > 80' | grep -v '^next: \|^warning: ')" '' 'show fits 80 columns'
else
    skip 'show uses colours on a terminal' 'no script(1) here'
fi
done_testing
