#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# [slurm] container and [launch] prefix, with mocks of apptainer and enroot: programs that note their
# arguments and start what comes after the image, on this machine and in no container.
. "$(dirname "$0")/lib.sh"

printf '%s\n' '[platform]' 'name = p' '[launch]' 'launcher = mpirun' 'oversubscribe = yes' '[measure]' 'launches = 1' \
    'blocks = 1' 'max_blocks = 1' 'warmup = 0' '[null]' 'size = 8' >q.ini
mkdir mock "a folder"
mock() { # NAME
    cat >"mock/$1" <<END
#!/bin/bash
printf '%s\n' "\$@" >>"$tmp/args"
while [[ \$1 != *.s* ]]; do shift; done
shift
GRADSYNC_INSIDE=$1 exec "\$@"
END
    chmod +x "mock/$1"
}
mock apptainer
mock enroot
in_job() { run env SLURM_JOB_ID=7 PATH="$tmp/mock:$PATH" "$gradsync" run -q q.ini -o "a folder" "$@"; }
each() { is "$(grep -Fxc -- "$1" args)" 2 "… for each rank: $1"; }

in_job --set slurm:container=/images/x.sif --set slurm:gpus_per_node=2
is "$rc" 0 'a mock of apptainer'
dir=$(ls -d "$tmp/a folder"/p/null/*)
for word in exec --nv "$build" "$dir" /images/x.sif; do
    each "$word"
done
ok '… and the run is whole' "$gradsync" check "$dir"
rm -rf "a folder"/p args
in_job --set slurm:container=/images/x.sqsh
is "$rc" 0 'a mock of enroot'
each "$build:$build"
is "$(grep -c -- --nv args)" 0 '… and GPUs as it has them'
rm -rf "a folder"/p args
ok 'outside of a job' env PATH="$tmp/mock:$PATH" "$gradsync" run -q q.ini -o "a folder" --set slurm:container=/images/x.sif
is "$(ls args 2>/dev/null)" '' '… the ranks start without it'

rm mock/apptainer
in_job --set slurm:container=/images/x.sif
is "$rc" 3 'without apptainer'
one_line "$err" '… one line'
like "$err" 'needs apptainer, .*not in PATH on this node; name its module' '… says what to do'
for verb in 'run -q -o none' 'submit --dry-run -o none'; do
    # shellcheck disable=SC2086
    exits 2 "${verb%% *}: an image of no known kind" env SLURM_JOB_ID=7 "$gradsync" $verb q.ini --set slurm:container=x.img
    one_line "$err" '… is said in one line'
    like "$err" '\.sif for apptainer, \.sqsh for enroot' '… with what is known'
done
is "$(ls -d none 2>/dev/null)" '' '… and nothing is made'
no_orphans 'nothing is left'
done_testing
