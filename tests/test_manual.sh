#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What comes with the program for those who type: the manual page, the completion and the citation.
# The first two must say what the program says.
. "$(dirname "$0")/lib.sh"
export GRADSYNC_PLUGIN_PATH=$build/plugins:$build/tests/plugins

# ---- the manual page ----

ok 'the manual page is written' bash "$top/mk/manual.sh" "$gradsync"
printf '%s\n' "$out" >gradsync.1
page=$(sed 's/\\-/-/g; s/\\&//g; s/\\e/\\/g' gradsync.1)
for verb in $("$gradsync" help verbs); do
    like "$page" $'\n'".SS $verb"$'\n' "the manual page has the verb $verb"
    lost=$(gradsync "$verb" --help | grep -vxF -f <(printf '%s' "$page") || true)
    is "$lost" '' "the manual page has every line of the help of $verb"
done
for section in platform launch measure slurm sites links model; do
    lost=$(gradsync help $section | sed '/^\[.*\]$/d' |
        grep -vxF -f <(printf '%s' "$page") || true)
    is "$lost" '' "the manual page has every key of [$section]"
done
unlike "$page" "$build" 'the manual page has no path of the build'
if command -v groff >/dev/null; then
    is "$(groff -man -Tutf8 -ww -K utf8 -rLL=100n gradsync.1 2>&1 >/dev/null | head -3)" '' \
        'groff accepts the manual page'
else
    skip 'groff accepts the manual page' 'no groff here'
fi

for term in price waiting arms; do
    ok "help knows the term $term" "$gradsync" help $term
    like "$out" 'docs/tune\.md' "help of $term names the page"
done
fails 2 "did you mean 'measure'" "$gradsync" help mesure

# ---- completion ----

mkdir -p configs data/raw/p/null/20250101T000000Z-abcd
touch configs/mine.ini a-file.ini
# shellcheck source=runner/verbs/gradsync.bash
. "$top/runner/verbs/gradsync.bash"
complete_it() { # WORD…: what the last one may become
    COMP_WORDS=("$gradsync" "$@") COMP_CWORD=$# COMPREPLY=()
    _gradsync
    printf '%s\n' "${COMPREPLY[@]}" | sort -u | paste -sd' '
}
is "$(complete_it sub)" submit 'the start of a verb is completed'
is "$(complete_it plan mi)" mine 'plan completes a config by its bare name'
is "$(complete_it plan a-f)" a-file.ini 'plan completes a file'
is "$(complete_it show 2025)" 20250101T000000Z-abcd 'show completes a run'
is "$(complete_it run 2025)" 20250101T000000Z-abcd 'run completes a run too'
is "$(complete_it help nul)" null 'help completes a plugin'
is "$(complete_it help measur)" 'measure measured' 'help completes a section of configs'
is "$(complete_it help plugi)" plugins 'help completes a kind'
is "$(complete_it report p)" p 'report completes a platform'
is "$(complete_it run --work)" --workload 'run completes --workload'
is "$(complete_it run --q)" --quiet 'run completes --quiet'
for verb in $("$gradsync" help verbs); do
    is "$(complete_it "$verb" --help)" --help "$verb completes --help"
done
is "$(complete_it plan zzz)" '' 'a word without a match is not completed'

# ---- installed ----

ok 'make install succeeds' make -s -C "$top" BUILD="$build" install "PREFIX=$tmp/in st"
ok 'make install installs the manual page' cmp gradsync.1 "$tmp/in st/share/man/man1/gradsync.1"
ok 'make install installs the completion' cmp "$top/runner/verbs/gradsync.bash" \
    "$tmp/in st/share/bash-completion/completions/gradsync"
touch "$tmp/in st/bin/mine"
ok 'make uninstall succeeds' make -s -C "$top" uninstall "PREFIX=$tmp/in st"
is "$(find "$tmp/in st" -mindepth 1 -printf '%P\n' | sort | paste -sd' ')" 'bin bin/mine' \
    'make uninstall removes the files that make install wrote, and no others'
is "$(sed -n 's/^version: //p' "$top/CITATION.cff")" "$("$gradsync" --version | cut -d' ' -f2)" \
    'CITATION.cff has the version of the program'
done_testing
