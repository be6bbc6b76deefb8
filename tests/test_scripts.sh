#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The scripts of mk/ that set up a machine, or renew documents, and what tests/run says of skipped tests.
. "$(dirname "$0")/lib.sh"

pretend() { # PROGRAM LINE…: a script bin/PROGRAM
    printf '%s\n' '#!/bin/bash' "${@:2}" >"bin/$1" && chmod +x "bin/$1"
}
mkdir bin # the only programs that the scripts find below
for name in awk basename bash cat dirname git grep mktemp nproc rm sed sort tsort xargs; do
    ln -s "$(command -v $name)" bin/
done

# ---- found.sh and setup.sh ----

found() { CC="$1" bash "$top/mk/found.sh" --require; }
fails 3 "cannot be built here without .*no-cc .the C compiler.*make setup installs them" found \
    "$tmp/no-cc"
pretend dpkg-query 'exit 1'
# shellcheck disable=SC2016 # for that script
pretend apt-get 'echo "$*" >>"$APT"'
setup() { # USER-ID
    pretend id "echo $1"
    APT=$tmp/apt PATH=$tmp/bin bash "$top/mk/setup.sh"
}
exits 3 'setup without root and sudo stops' setup 1000
like "$out" 'needs root or sudo.* apt-get install --no-install-recommends gcc '
ok 'it installs nothing' test ! -e apt
ln -s "$(command -v env)" bin/
fails 3 'apt-get did not install: gcc ' setup 0
like "$(<apt)" 'install --no-install-recommends gcc ' 'it had apt-get install them'

# ---- readme.sh ----

# shellcheck disable=SC2016 # Markdown
printf '%s\n' '$ echo left' '```console' '$ echo one; echo two' stale '```' after '```sh' \
    '$ false' '```' >text.md
# shellcheck disable=SC2016 # Markdown
is "$(bash "$top/mk/readme.sh" text.md)" "$(printf '%s\n' '$ echo left' '```console' \
    '$ echo one; echo two' one two '```' after '```sh' '$ false' '```')" \
    'readme.sh renews the output of the commands of console blocks, and nothing else'
printf '%s\n' '```console' '$ exit 3' '```' after >text.md
exits 3 'a command that fails ends readme.sh' bash "$top/mk/readme.sh" text.md
unlike "$out" after 'nothing is written after that'

no_orphans 'nothing is left running'
# What a test skips is named before prove's last line, with the reason.
printf '%s\n' 'echo "ok 1 - a thing # SKIP no x here"; echo 1..1' >"$tmp/test_a.sh"
printf '%s\n' 'echo "1..0 # SKIP no GPU"' >"$tmp/test_b.sh"
run env -u TESTS bash "$top/tests/run" "$tmp/test_a.sh" "$tmp/test_b.sh"
is "$rc$(tail -n 4 <<<"$out")" "0Skipped:
  test_a.sh: a thing: no x here
  test_b.sh: no GPU
Result: PASS" 'tests/run lists what was skipped'
done_testing
