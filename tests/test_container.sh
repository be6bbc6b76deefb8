#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# [slurm] container and [launch] prefix, with mocks of apptainer and enroot: programs that note
# their arguments and start what comes after the image on this machine, in no container.
. "$(dirname "$0")/lib.sh"

printf '%s\n' '[platform]' 'name = p' '[launch]' 'launcher = mpirun' 'oversubscribe = yes' \
    '[measure]' 'launches = 1' 'blocks = 1' 'max_blocks = 1' 'warmup = 0' '[null]' 'size = 8' >q.ini
data='a folder.sif' # a path that resembles an image, as a random name of $tmp may
mkdir mock "$data"
mock() { # NAME
    cat >"mock/$1" <<END
#!/bin/bash
printf '%s\n' "\$@" >>"$tmp/args"
while [[ \$1 != /images/x.s* ]]; do shift; done
shift
GRADSYNC_INSIDE=$1 exec "\$@"
END
    chmod +x "mock/$1"
}
mock apptainer
mock enroot
in_job() { run env SLURM_JOB_ID=7 PATH="$tmp/mock:$PATH" "$gradsync" run -q q.ini -o "$data" \
    "$@"; }
each() { is "$(grep -Fxc -- "$1" args)" 2 "each rank gets the argument $1"; }

in_job --set slurm:container=/images/x.sif --set slurm:gpus_per_node=2
is "$rc" 0 'a run in a mock of apptainer succeeds'
[ "$rc" = 0 ] || diag "$err"
dir=$(ls -d "$tmp/$data"/p/null/*)
for word in exec --nv "$build" "$dir" /images/x.sif; do
    each "$word"
done
ok 'a run in a mock of apptainer is sound' "$gradsync" check "$dir"
rm -rf "$data"/p args
in_job --set slurm:container=/images/x.sqsh
is "$rc" 0 'a run in a mock of enroot succeeds'
[ "$rc" = 0 ] || diag "$err"
each "$build:$build"
is "$(grep -c -- --nv args)" 0 'enroot gets no option for GPUs'
rm -rf "$data"/p args
ok 'a run outside of a job succeeds' env PATH="$tmp/mock:$PATH" "$gradsync" run -q q.ini -o \
    "$data" --set slurm:container=/images/x.sif
is "$(ls args 2>/dev/null)" '' 'a run outside of a job uses no container'

rm mock/apptainer
in_job --set slurm:container=/images/x.sif
is "$rc" 3 'a job without apptainer exits with 3'
one_line "$err" 'the error about apptainer is one line'
like "$err" 'needs apptainer, .*not in PATH on this node; load its module' \
    'the error about apptainer says to load its module'
for verb in 'run -q -o none' 'submit --dry-run -o none'; do
    # shellcheck disable=SC2086
    exits 2 "${verb%% *} of an image of an unknown kind is refused" env SLURM_JOB_ID=7 "$gradsync" \
        $verb q.ini --set slurm:container=x.img
    one_line "$err" "the error of ${verb%% *} about the image is one line"
    like "$err" '\.sif for apptainer, \.sqsh for enroot' \
        "the error of ${verb%% *} names the known kinds of images"
done
is "$(ls -d none 2>/dev/null)" '' 'a refused image leaves no folder'
no_orphans 'no process is left'
done_testing
