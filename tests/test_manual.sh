#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What comes with the program for those who type: the manual page and the completion, and that both say
# what the program says; the citation.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
export GRADSYNC_PLUGIN_PATH=$build/plugins

# ---- the manual page ----

ok 'the manual page' bash "$top/mk/manual.sh" "$gradsync"
printf '%s\n' "$out" >gradsync.1
page=$(sed 's/\\-/-/g; s/\\&//g; s/\\e/\\/g' gradsync.1)
for verb in $("$gradsync" list verbs); do
    like "$page" $'\n'".SS $verb"$'\n' "has $verb"
    lost=$("$gradsync" "$verb" --help | grep -vxF -f <(printf '%s' "$page") || true)
    is "$lost" '' 'and every line of its help'
done
for section in platform launch measure slurm sites links model; do
    lost=$("$gradsync" help $section | sed '/^\[.*\]$/d' | grep -vxF -f <(printf '%s' "$page") || true)
    is "$lost" '' "every key of [$section]"
done
unlike "$page" "$build" 'it knows nothing of where it was made'
if command -v groff >/dev/null; then
    is "$(groff -man -Tutf8 -ww -K utf8 -rLL=100n gradsync.1 2>&1 >/dev/null | head -3)" '' 'groff has nothing to say'
else
    skip 'groff has nothing to say' 'no groff here'
fi

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
is "$(complete_it ca)" cancel 'a verb'
is "$(complete_it plan mi)" mine 'a config by its bare name'
is "$(complete_it plan a-f)" a-file.ini 'a file'
is "$(complete_it show 2025)" 20250101T000000Z-abcd 'a run'
is "$(complete_it run 2025)" 20250101T000000Z-abcd 'a run where a config may stand too'
is "$(complete_it help nul)" null 'a plugin'
is "$(complete_it help meas)" measure 'a section of configs'
is "$(complete_it list p)" plugins 'a kind'
is "$(complete_it report p)" p 'a platform'
is "$(complete_it run --work)" --workload 'an option'
is "$(complete_it run --q)" --quiet 'another'
for verb in $("$gradsync" list verbs); do
    is "$(complete_it "$verb" --help)" --help "options of $verb"
done
is "$(complete_it plan zzz)" '' 'nothing where nothing fits'

# ---- installed ----

ok 'make install' make -s -C "$top" BUILD="$build" install "PREFIX=$tmp/in st"
ok 'has the manual page' cmp gradsync.1 "$tmp/in st/share/man/man1/gradsync.1"
ok 'and the completion' cmp "$top/runner/verbs/gradsync.bash" "$tmp/in st/share/bash-completion/completions/gradsync"
is "$(sed -n 's/^version: //p' "$top/CITATION.cff")" "$("$gradsync" --version | cut -d' ' -f2)" \
    'CITATION.cff is of this version'
done_testing
