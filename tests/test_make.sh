#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What make says before it starts: a program that is missing, a name that is mistyped, a machine
# without GPUs; and that it says nothing in a locale of another alphabet.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
in_top() { timeout 60 make --no-print-directory -C "$top" BUILD="$build" "$@"; }
stops() { # NAME TEXT MAKE-ARGUMENTS…
    local name=$1 text=$2
    shift 2
    exits 2 "$name" in_top -n "$@" # should it not stop, nothing is measured all the same
    one_line "$err" '… in one line'
    like "$err" "$text" '… that says what to do'
    is "$out" '' '… before anything starts'
}

# ---- what is missing ----

mkdir bin # every program but gnuplot
IFS=: read -ra path <<<"$PATH"
for folder in "${path[@]}"; do
    for program in "$folder"/*; do
        case ${program##*/} in gnuplot*) ;; *) ln -s "$program" bin/ 2>/dev/null ;; esac
    done
done
PATH=$tmp/bin stops 'figures without gnuplot' 'gnuplot is missing, so make figures cannot draw; make setup installs it' figures
cat >no-cmocka <<'END'
#!/bin/bash
for a; do [ "$a" != -E ] || { grep -q cmocka && exit 1; }; done
exec "${REAL_CC:-gcc}" "$@"
END
chmod +x no-cmocka
stops 'check without cmocka' 'cmocka is missing, so make check cannot run; make setup installs it' check CC="$tmp/no-cmocka"

# ---- names ----

stops 'a platform mistyped' "no platform 'locl', did you mean 'local'\?" figures PLATFORM=locl
stops 'a part of its name' "no platform 'h200', did you mean 'h200-2gpu'\?" report PLATFORM=h200
stops 'a platform that is none' "no platform 'zzz': neither configs/zzz.ini nor data/raw/zzz is here" report PLATFORM=zzz
stops 'a variable in small letters' "no variable 'platform', did you mean 'PLATFORM'\?" report platform=local
ok 'a config by its path' in_top plan PLATFORM=configs/local.ini
like "$out" 'next: gradsync run configs/local.ini' '… is the platform'
like "$(in_top -pn report PLATFORM='local h200-2gpu' 2>/dev/null)" 'report_page := figures/out/report-local-h200-2gpu.html' \
    'two platforms are one report'
exits 2 'a folder for the build with a space' in_top BUILD="$tmp/a b" all
like "$err" 'the path of the build folder must not have spaces' '… is refused'
if ! compgen -G '/dev/nvidia[0-9]*' >/dev/null; then
    exits 2 'check-gpu without GPUs' in_top check-gpu
    like "$err" 'check-gpu needs 2 GPUs, found 0: run it where nvidia-smi lists them' '… is no success'
    like "$err" 'Error 3' '… and says that this machine cannot run it'
fi

# ---- locales ----

if mkdir locales && localedef -i tr_TR -f UTF-8 locales/tr_TR.UTF-8 2>/dev/null; then
    run env LOCPATH="$tmp/locales" LC_ALL=tr_TR.UTF-8 make --no-print-directory -C "$top" BUILD="$build" -n figures
    unlike "$err" 'overriding recipe' 'a Turkish locale hides no target'
else
    skip 'a Turkish locale hides no target' 'no localedef, or no tr_TR'
fi
done_testing
