#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The scripts of mk/ on pretended programs: the linters, the packages, the lab, and what keeps or
# replaces files. mk/rooms.sh and mk/sums.sh have tests of their own.
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || skip_all 'no git here'

pretend() { # PROGRAM LINE…: a script bin/PROGRAM
    printf '%s\n' '#!/bin/bash' "${@:2}" >"bin/$1" && chmod +x "bin/$1"
}
mkdir bin # the only programs that the scripts find below
for name in awk basename bash cat dirname git grep mktemp nproc rm sed sort tsort xargs; do
    ln -s "$(command -v $name)" bin/
done

# ---- lint.sh ----

mkdir -p tree/{mk,runner/base,tests/bad_plugins}
cp "$top"/mk/{lint,rooms}.sh tree/mk
# shellcheck disable=SC2016 # a table of Markdown
echo '| `runner/base/` | all |' >tree/CONTRIBUTING.md
touch tree/runner/base/{good.c,good.h,gone.c} tree/tests/bad_plugins/bad.c
git -C tree init -q && git -C tree add -A
for name in clang-format shellcheck clang-tidy; do
    # shellcheck disable=SC2016 # for that script
    pretend $name 'echo "${0##*/} $*" >>"$CALLS"' '[ "${0##*/}" != "$BROKEN" ]'
done
lint() { # PROGRAM-THAT-REPORTS
    (cd tree && CALLS=$tmp/calls BROKEN=$1 PATH=$tmp/bin CPPFLAGS=-Irunner MPICC=true bash \
        mk/lint.sh)
}
exits 0 'lint succeeds when no linter reports anything' lint none
like "$(<calls)" 'clang-format .*runner/base/gone.c runner/base/good.c runner/base/good.h ' \
    'clang-format reads sources and headers'
unlike "$(grep clang-tidy calls)" bad_plugins 'clang-tidy leaves out what is bad on purpose'
for name in clang-format shellcheck clang-tidy; do exits 1 "lint fails when $name reports something" lint $name; done
rm bin/clang-tidy
prints 'lint: clang-tidy is not installed; skipped' lint none

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

# ---- wan-lab.sh ----

# In place of gradsync lab … -- gradsync …: prints $SAYS, and finishes the run in call $FINISHES.
cat >bin/lab <<'END'
#!/bin/bash
echo "$*" >>calls
words=$* name=${words#*platform:name=} name=${name%% *}
mkdir -p "$DATA/$name/wan_sync/r1"
[ "$(wc -l <calls)" -lt "$FINISHES" ] || touch "$DATA/$name/wan_sync/r1/MANIFEST.json"
echo "$SAYS"
[ -e "$DATA/$name/wan_sync/r1/MANIFEST.json" ]
END
chmod +x bin/lab
wan_lab() { # FINISHES SAYS WORD
    rm -f calls
    DATA=$tmp/data FINISHES=$1 SAYS=$2 bash mk/wan-lab.sh "$tmp/bin/lab" "$tmp/data" 1 "$3"
}
cp "$top/mk/wan-lab.sh" tree/mk && cd tree || exit
exits 0 'networks are measured' wan_lab 1 measured 100-30
is "$(wc -l <calls)" 2 'a word picks those whose name has it'
exits 0 'a network is measured' wan_lab 1 measured '100-50 '
is "$(wc -l <calls) $(grep -c 'platform:name=wan-lab-100-50 .* run -q -w wan_sync ' calls)" '1 1' \
    'a word that ends in a blank picks the name that ends so'
ok 'a finished recording leaves no log' test ! -e ../data/wan-lab-100-50.log
exits 0 'networks that were measured need no lab' wan_lab 1 measured 100-30
ok 'they are left alone' test ! -e calls
run wan_lab 99 'No space left' every
isnt "$rc" 0 'a failure is an error'
log=$tmp/data/wan-lab-every.log
is "$(wc -l <calls)|$err" "1|wan-lab-every: No space left ($log)" 'the error has the last line of the log'
exits 0 'a run that failed is completed' wan_lab 1 measured every
is "$(grep -c ' resume -q .*/data/wan-lab-every/wan_sync/r1' calls)" 1 'by resume'
cd .. || exit

# ---- what names files ----

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

mkdir -p data/raw/{local,far}/w/20250101T000000Z-aaaa
touch data/raw/{local,far}/w/20250101T000000Z-aaaa/MANIFEST.json
: >drawings
ok 'drawn.sh succeeds without figures' bash "$top/mk/drawn.sh" drawings
is "$out" '' 'it prints nothing then'
printf '%s\n' far/a local/a >drawings
mkdir -p figures/out/{far,local} && touch figures/out/{far,local}/a.svg
is "$(bash "$top/mk/drawn.sh" drawings)" 'figures: 2 in figures/out/, as SVG, PDF and PNG
show the result: build/gradsync show data/raw/local/w/20250101T000000Z-aaaa' \
    'drawn.sh counts the figures, and names the run of this machine'
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
