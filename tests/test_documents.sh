#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The numbers that the documents show are what their commands print, and the files that they name
# exist. tests/test_document_commands.sh runs the other commands.
. "$(dirname "$0")/lib.sh"
. "$top/tests/committed.sh"
unset GRADSYNC_PLUGIN_PATH

ok 'the tables behind the numbers are made' committed_checkout numbers
cd numbers || exit 1
for document in README.md $(cd "$top" && echo docs/*.md); do
    ok "the commands of $document succeed" bash "$top/mk/readme.sh" "$top/$document"
    is "$(diff <(printf '%s\n' "$out") "$top/$document")" '' \
        "the commands print what $document shows (else: make readme)"
    case $document in
    docs/*) is "$(awk 'NR > 1 && NF { print; exit }' "$top/$document" | grep -c '^```')" 1 "$document begins with a command" ;;&
    README.md | docs/answer.md | docs/formats.md)
        is "$(sed '/^```/,/^```/d; /^|/d' "$top/$document" |
            grep -nE '[0-9.]+ ?(%|GB/s|µs|us|ms)( |$|,|\.)' | grep -v '95%')" '' \
            "no number of $document stands outside its tables and commands"
        ;;
    esac
done
# The blocks of configs and candidates.
block() { awk -v first="$1" '/^```/ { inside = !inside; on = inside && getline > 0 && $0 == first } on' "$top/docs/$2"; }
cat "$top/configs/local.ini" <(block '[slurm]' clusters.md) >slurm.ini
block '[platform]' measuring.md >mine.ini
ok 'the configs of clusters.md and measuring.md are sound' "$gradsync" check slurm.ini mine.ini
block '[sites]' wide-area.md >sites.ini
exits 2 'the config of wide-area.md lacks the rates alone' "$gradsync" check sites.ini
is "$(grep -vc 'no rate; set up' <<<"$err")" 0 'as the page says'
block '# LINK: NAME=VALUE NAME=VALUE ...   # what it changes' tune.md >candidates
prints 'NCCL_SOCKET_NTHREADS=8' "$gradsync" tune --dry-run --candidates candidates -- true
grep -ohE '(\]\(|`)(docs|configs|runner|plugins|paper|tests|mk)/[a-zA-Z0-9_./-]*[)`]' \
    "$top/README.md" "$top/CONTRIBUTING.md" "$top"/docs/*.md |
    tr -d '](`)' | grep -vE 'scan|NAME|paper\.pdf' | sort -u >"$tmp/paths"
isnt "$(wc -l <"$tmp/paths")" 0 'the documents name files of the tree'
is "$(cd "$top" && while read -r path; do [ -e "$path" ] || echo "$path"; done <"$tmp/paths")" '' \
    'every file that the documents name exists'
no_orphans 'no process is left'
done_testing
