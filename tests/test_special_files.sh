#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Links, pipes and other special files among the files of other people, and folders that vanish:
# every verb ends with one line, follows no link of a run folder, and waits for no file.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

ends() { # WHAT WANT COMMAND…: ends by itself, not 0, and names what is wrong
    local what=$1 want=$2
    shift 2
    run timeout 120 "$@"
    like "$rc $err" "^[123] .*$want" "${*:2} ends with a message: $what"
}
special='not a regular file'

# ---- pipes

whole_run raw/p/null/r1
rm "$(recording raw/p/null/r1 1 1)" && mkfifo "$(recording raw/p/null/r1 1 1)"
for verb in 'check raw' 'query raw --export csv' 'show raw/p/null/r1' 'compare raw'; do
    # shellcheck disable=SC2086
    ends 'a pipe for a recording' "$special" "$gradsync" $verb
done
rm -rf raw && whole_run raw/p/null/r1 && mkfifo raw/p/null/r1/MANIFEST.json
for verb in 'check raw' 'query raw --export csv' 'show raw/p/null/r1'; do
    # shellcheck disable=SC2086
    ends 'a pipe for a manifest' "$special" "$gradsync" $verb
done
for file in plan.json config.ini; do
    rm -rf raw && whole_run raw/p/null/r1 && rm raw/p/null/r1/$file && mkfifo raw/p/null/r1/$file
    ends "a pipe for $file" "$special" "$gradsync" query raw --export csv
done
mkdir -p camp/p/null/r csv && mkfifo camp/p/null/r/jobs.jsonl csv/compare.csv csv/launches.csv
for verb in status submit; do ends 'a pipe for the ledger of a run' "$special" "$gradsync" \
    $verb camp; done
ends 'a pipe for a table' "$special" "$gradsync" query --table csv/compare.csv "SELECT 1"
mkfifo pipe.so pipe.ini
ends 'a pipe for a plugin' "$special" "$gradsync" check pipe.so
ends 'a pipe for a config' "$special" "$gradsync" plan pipe.ini

# ---- links

printf '[launch]\nranks = 1\n[measure]\nlaunches = 1\nbudget = 20ms\nwarmup = 1ms\n[null]\nsize '\
'= 8\n' >one.ini
echo precious >precious && chmod 666 precious
if command -v mpirun >/dev/null && "$gradsync" run -q one.ini -o real; then
    run_dir=$(echo real/one/null/*)
    chmod -R u+w real && rm "$run_dir/MANIFEST.json"
    for name in launch-01.02.jsonl launch-02.01.log notes; do
        ln -sf "$PWD/precious" "$run_dir/$name"
        ends "a link $name in a run folder" "a link|$special" "$gradsync" resume "$run_dir"
        is "$(stat -c %a precious) $(cat precious)" '666 precious' \
            "the target of the link $name keeps its mode and content"
        rm "$run_dir/$name"
    done
    for name in config.ini launch-01.01.jsonl; do
        mv "$run_dir/$name" kept && mkfifo "$run_dir/$name"
        ends "a pipe for $name" "$special" "$gradsync" resume "$run_dir"
        mv kept "$run_dir/$name"
    done
else
    skip 'resume follows no link in a run folder' 'no mpirun here'
fi

# ---- a plan that cannot be written, a folder that vanishes

printf '[launch]\nranks = 1\n[measure]\nlaunches = 3\nbudget = 20ms\nwarmup = 1ms\n[null]\nsize '\
'= 8:1MiB:x2\n' >here.ini
fails 1 'plan.json: cannot be written: File too large' bash -c \
    'ulimit -f 2; trap "" XFSZ; exec "$0" run -q here.ini -o full' "$gradsync"
is "$(find full -type f -o -name '*Z-*')" '' 'a plan that does not fit leaves no run folder'
if command -v mpirun >/dev/null; then
    sed -i "s,^ranks = 1,&\nprefix = $PWD/vanish," here.ini
    printf '#!/bin/sh\nrm -rf "%s/gone"\nexec "$@"\n' "$PWD" >vanish && chmod +x vanish
    fails 1 'gone/here/null/.*: was removed while it was measured' "$gradsync" run -q here.ini -o \
        gone
else
    skip 'a run whose folder is removed ends with 1' 'no mpirun here'
fi
# ---- a killed run, with a /dev/shm of its own: other runs on this host sweep it too

cat >killed <<'END'
mount -t tmpfs none /dev/shm || exit 77
"$1" run -q long.ini -o long &
pid=$!
files() { find /dev/shm/gradsync-* -type f 2>/dev/null | grep -q .; }
no_folder() { ! ls -d /dev/shm/gradsync-* >/dev/null 2>&1; }
until_true 60 files || exit 1
kill -9 $pid
until_true 100 no_folder || exit 2
END
printf '%s\n' '[launch]' 'ranks = 2' 'oversubscribe = yes' '[measure]' 'launches = 1' \
    'budget = 120s' 'max_blocks = 1000000' \
    'precision = 0.01%' '[null]' 'size = 8' 'spin = yes' 'time = 1ms' 'noise = 90%' >long.ini
export -f until_true
run unshare -rm bash killed "$gradsync"
if [ $rc = 77 ] || ! command -v mpirun >/dev/null; then
    skip 'a killed run leaves nothing in shared memory' 'no mounts or no mpirun here'
else
    is "$rc" 0 'a killed run leaves nothing in shared memory'
fi
no_orphans 'no process is left'
# ---- a folder in the place of a file, a file in the place of a folder ----

exits 2 'a folder is no results' "$gradsync" import "$tmp"
like "$err" 'is a folder; name the files in it' 'import says so'
printf '%s\n' '[launch]' 'ranks = 1' '[null]' 'size = 8' '[null second]' 'size = 8' >two.ini
: >plain
exits 1 'no run folder can be made under a file' "$gradsync" run -o plain/raw two.ini
is "$(grep -c 'cannot create the folder' <<<"$err")" 1 'one error is printed for both sections'
# ---- a result that nobody gets ----

for verb in help 'help config' 'help plugins'; do
    # shellcheck disable=SC2086
    run bash -c '"$0" "$@" >/dev/full' "$gradsync" $verb
    is "$rc" 1 "$verb fails where its output does not fit"
    like "$err" 'standard output cannot be written: No space left' "$verb says what is full"
done

# Sample files of steps are the first to fill it, one after another.
mkdir disk
run unshare -rm bash -c 'mount -t tmpfs -o size=16k none disk || exit 77; exec "$0" query -q '\
'"$1" --export disk' \
    "$gradsync" "$top/data/raw/h200-2gpu"
if [ $rc != 77 ] && [[ $err != *unshare* ]]; then
    is "$rc" 1 'a disk that is full ends the reduction with 1'
    one_line "$err" 'a full disk gives one line of error'
    like "$err" 'No space left on device .the disk is full: free some space'
else
    skip 'a disk that is full ends the reduction with 1' 'needs a mount of its own'
fi
done_testing
