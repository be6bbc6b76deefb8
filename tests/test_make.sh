#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What make says before it starts: that a program is missing, that a name is mistyped, that a
# machine has no GPUs. It says nothing of these in a locale of another alphabet.
. "$(dirname "$0")/lib.sh"
for target in setup-slurm setup-paper setup-report tables docs readme check-slurm; do
    like "$(make -C "$top" help BUILD="$build")" $'\n'"  $target +[a-z]" "make lists the target $target"
done
in_top() { timeout 300 make --no-print-directory -C "$top" BUILD="$build" "$@"; }
stops() { # NAME TEXT MAKE-ARGUMENTS…
    local name=$1 text=$2
    shift 2
    exits 2 "$name" in_top -n "$@" # should it not stop, nothing is measured all the same
    one_line "$err" "$name: the error is one line"
    like "$err" "$text" "$name: the error says what to do"
    is "$out" '' "$name: nothing starts"
}

# ---- what is missing ----

mkdir bin # every program but gnuplot
IFS=: read -ra path <<<"$PATH"
for folder in "${path[@]}"; do ln -s "$folder"/* bin/ 2>/dev/null; done
rm -f bin/gnuplot*
PATH=$tmp/bin stops 'make figures without gnuplot is refused' \
    'gnuplot is missing, so make figures cannot draw; make setup-figures installs it' figures
PATH=$tmp/bin stops 'make figures-all without gnuplot is refused' 'gnuplot is missing' figures-all
cat >no-cmocka <<'END'
#!/bin/bash
for a; do [ "$a" != -E ] || { grep -q cmocka && exit 1; }; done
exec "${REAL_CC:-gcc}" "$@"
END
chmod +x no-cmocka
stops 'make check without cmocka is refused' \
    'cmocka is missing, so make check cannot run; make setup-check installs it' check CC="$tmp/no-cmocka"
stops 'make check-all without cmocka is refused' 'cmocka is missing' check-all CC="$tmp/no-cmocka"

# ---- names ----

stops 'a mistyped platform is refused' "no platform 'locl', did you mean 'local'\?" figures \
    PLATFORM=locl
stops "a part of a platform's name is refused" "no platform 'h200', did you mean 'h200-2gpu'\?" \
    report PLATFORM=h200
stops 'a platform that does not exist is refused' \
    "no platform 'zzz': neither configs/zzz.ini nor data/raw/zzz is here" report PLATFORM=zzz
stops 'a variable in small letters is refused' "no variable 'platform', did you mean 'PLATFORM'\?" \
    report platform=local
prints 'next: .*gradsync run configs/local.ini' in_top plan PLATFORM=configs/local.ini
like "$(in_top -n run PLATFORM='local h200-2gpu')" \
    'gradsync run configs/local.ini configs/h200-2gpu.ini' 'make run takes two platforms'
like "$(in_top -pn report PLATFORM='local h200-2gpu' 2>/dev/null)" \
    'report_page := figures/out/report-local-h200-2gpu.html' \
    'two platforms are one report'
fails 2 'the path of the build folder must not have spaces' in_top BUILD="$tmp/a b" all
if ! compgen -G '/dev/nvidia[0-9]*' >/dev/null; then
    fails 2 'check-gpu needs 2 GPUs, found 0: run it where nvidia-smi lists them' in_top check-gpu
    like "$err" 'Error 3' 'the error has the code of a machine that cannot run it'
fi

# ---- locales ----

if mkdir locales && localedef -i tr_TR -f UTF-8 locales/tr_TR.UTF-8 2>/dev/null; then
    run env LOCPATH="$tmp/locales" LC_ALL=tr_TR.UTF-8 make --no-print-directory -C "$top" \
        BUILD="$build" -n figures
    unlike "$err" 'overriding recipe' 'a Turkish locale hides no target'
else
    skip 'a Turkish locale hides no target' 'no localedef, or no tr_TR'
fi

# ---- a build folder of another time ----

object=$(cd "$top" && ls runner/base/*.c | head -n 1) object=build/${object%.c}.o
mkdir -p tree && cp -r "$top"/{GNUmakefile,mk,runner,plugins,docs} tree
compiles() { make --no-print-directory -C tree BUILD=build TELL='>/dev/null' "$object" "$@"; }
ok 'an object is compiled' compiles
unlike "$(compiles)" 'CC ' 'the same options compile nothing again'
like "$(compiles CFLAGS='-O1 -g')" 'CC ' 'other options compile it again'
done_testing
