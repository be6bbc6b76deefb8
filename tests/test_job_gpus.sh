#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# On which GPUs a user's job ran, with which driver and NCCL, and who else used them: gradsync train
# and trial record it. The GPUs are pretended (tests/gpu/pretended_nvml.c); so is NCCL's library.
. "$(dirname "$0")/lib.sh"

mkdir lib
ok 'the NVML that pretends compiles' "${CC:-gcc}" -std=gnu11 -Wall -Wextra -shared -fPIC \
    -Wl,-soname,libnvidia-ml.so.1 -o lib/libnvidia-ml.so.1 "$top/tests/gpu/pretended_nvml.c"
echo 'const char other[] = "NCCL version 2.27.0 or later", text[] = "NCCL version 2.99.7+cuda12.9"; int unused;' >nccl.c
ok 'the NCCL that pretends compiles' "${CC:-gcc}" -shared -fPIC -o lib/libnccl.so.2 nccl.c
export LD_LIBRARY_PATH=$tmp/lib PRETEND_PROGRAMS=$tmp/on

uuid() { printf 'GPU-00000000-0000-0000-0000-0000000000%02x' "$1"; }
notes() { jq -r "select(.type == \"note\" and .key == \"$1\") | .value" "$(run_of)"/launch-0"$2"*.jsonl; }
others() { jq -c 'select(.type == "health") | [.after[].gpu.others]' "$(run_of)"/launch-01*.jsonl |
    sort -u | xargs; }

# A job on the GPUs of its arguments, which holds them until it was seen there.
cat >step <<'END'
#!/bin/bash
for gpu in "$@"; do echo $$ >>"$PRETEND_PROGRAMS.$gpu"; done
for i in $(seq 30); do echo "step took $((100 + i % 3)) ms"; done
sleep 1.2
for gpu in "$@"; do sed -i "/^$$\$/d" "$PRETEND_PROGRAMS.$gpu"; done
END
chmod +x step
train() { # COMMAND, OPTIONS of gradsync train
    printf '%s\n' '[platform]' 'name = here' '[measure]' 'launches = 2' 'seed = 7' '[train]' \
        "command = $1 && true {cost}" 'time = took ([0-9]+) ms' 'unit = ms' 'cost = 0, 1' >job.ini
    exits 0 "a training is measured: $1" "$gradsync" train job.ini -o raw
}

train 'LD_PRELOAD=$PWD/lib/libnccl.so.2 ./step 1'
is "$(notes uuid 1)" "$(uuid 1)" 'a training is recorded with the GPU that it used, and no other'
is "$(notes gpu 1) $(notes driver 1) $(notes cuda_driver 1)" 'Pretended GPU 570.1 12.8' \
    'a training is recorded with the name of its GPU, the driver and its CUDA'
is "$(notes nccl 1)" 2.99.7 'a training is recorded with the NCCL that its processes loaded'
is "$(others)" '[0]' 'no other program used the GPU'
exits 0 'the recording is sound' "$gradsync" check "$(run_of)"

sleep 600 &
echo $! >"$tmp/on.0"
train 'echo NCCL version 2.28.3+cuda12.9 && ./step 0 1'
is "$(notes uuid 1 | xargs)" "$(uuid 0) $(uuid 1)" 'a training is recorded with both of its GPUs'
is "$(notes nccl 1)" 2.28.3 'the version of NCCL is that of the log of the job'
is "$(others)" '[1,0]' 'another program on one of the GPUs is recorded'
kill %1
rm -f "$tmp"/on.*

printf '%s\n' '#!/bin/sh' 'n=$(cat n) && echo $((n + 1)) >n' 'exec ./step $((n / 3))' >turn
chmod +x turn
echo 0 >n
train './turn'
is "$(notes uuid 1) $(notes uuid 2)" "$(uuid 0) $(uuid 1)" 'each launch has its own GPU'
prints ', on 2 sets of GPUs' "$gradsync" show "$(run_of)"
says 'measured on 2 sets of GPUs' "$gradsync" compare "$(run_of)"

# ---- a trial: each rank tells its own

ok 'the driver that pretends compiles' "${CC:-gcc}" -std=gnu11 -shared -fPIC \
    -Wl,-soname,libcuda.so.1 -o lib/libcuda.so.1 -x c - <<'END'
#include <stdlib.h>
#include <string.h>
int ncclGetVersion(int *v) { *v = 22809; return 0; }
int cuCtxGetDevice(int *d) { *d = 1; return 0; }
int cuDeviceGetUuid(unsigned char *b, int d) { memset(b, 0, 16); b[15] = (unsigned char)d; return 0; }
END
trial() {
    exits 0 "a trial is measured: $1" env "${@:2}" "$gradsync" trial --warmup 5 --seed 3 -o raw \
        --arms ctas=8 --steps 4 --blocks 4 -- "$build/tuner/job" steps=200 step_us=1000
}
trial 'with GPUs' LD_PRELOAD="$tmp/lib/libcuda.so.1"
header() { jq -r "select(.type == \"header\") | $1" "$(run_of)"/launch-01*.jsonl; }
is "$(header '[.hosts[].gpu.uuid] | join(" ")')" "$(uuid 1) $(uuid 1)" \
    'each rank of a trial is recorded with its GPU'
is "$(header '.hosts[0].gpu | "\(.name) \(.driver) \(.cuda_driver)"')" 'Pretended GPU 570.1 12.8' \
    'a trial is recorded with the name of its GPU, the driver and its CUDA'
is "$(notes nccl 1)" 2.28.9 'a trial is recorded with the NCCL that its ranks loaded'
trial 'without GPUs' LD_LIBRARY_PATH=
is "$(header '[.hosts[].gpu] | unique | tostring')" '[null]' \
    'a trial without GPUs names no GPU'
done_testing
