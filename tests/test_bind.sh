#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# [launch] bind = gpu, with a mock of NVML whose GPUs are all the first PCI device of this machine.
. "$(dirname "$0")/lib.sh"

device=$(ls /sys/bus/pci/devices 2>/dev/null | head -n 1)
[ -e "/sys/bus/pci/devices/$device/local_cpulist" ] || skip_all 'no PCI device here'
printf '%s\n' '[launch]' 'oversubscribe = yes' '[measure]' 'launches = 1' 'blocks = 1' \
    'max_blocks = 1' 'warmup = 0' \
    '[null]' 'size = 8' >q.ini
hosts() { head -n 1 "$1"/*/null/*/launch-01.01.jsonl | grep -o '"bound":{[^}]*}' | sort | uniq -c \
    | sed 's/^ *//'; }

run "$gradsync" run -q q.ini --set launch:bind=gpu -o none
is "$rc" 0 'without a GPU bind = gpu measures unbound'
is "$(hosts none)" '2 "bound":{"gpu":"","why":"no GPU was found for this rank"}' \
    'the recording says that no GPU was found for a rank'
ok 'a run of a host platform succeeds without bind' "$gradsync" run -q q.ini -o auto
is "$(hosts auto)" '' 'by default nothing is bound on a host platform'
run "$gradsync" plan q.ini --set platform:device=X
like "$out" '2 ranks on 1 node, each bound beside its GPU'
run "$gradsync" plan q.ini --set platform:device=X --set launch:bind=none
unlike "$out" 'bound' 'plan with bind = none speaks of no binding'

cat >nvml.c <<END
#include <stdio.h>
struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char text[32]; };
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(i + 1ul); return 0; }
int nvmlDeviceGetUUID(void *d, char *text, unsigned n)
{
    return snprintf(text, n, "GPU-mock-%ld", (long)d - 1) >= (int)n;
}
int nvmlDeviceGetPciInfo_v3(void *d, struct pci *p)
{
    (void)d;
    *p = (struct pci){.domain = 0x${device%%:*},
                      .bus = 0x$(cut -d: -f2 <<<"$device"),
                      .device = 0x$(cut -d: -f3 <<<"${device%.*}")};
    return 0;
}
END
mkdir lib
ok 'the mock of NVML compiles' "${CC:-gcc}" -shared -fPIC -o lib/libnvidia-ml.so.1 nvml.c
ok 'a run with the mock of a GPU succeeds' env \
    LD_LIBRARY_PATH="$tmp/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$gradsync" run -q q.ini -o \
    gpu --set platform:device=mock
cpus=$(cat "/sys/bus/pci/devices/$device/local_cpulist")
bound="\"gpu\":\"${device%.*}.0\",\"numa\":-?[0-9]+,\"cpus\":\"[0-9,-]+\""
like "$(hosts gpu)" "^2 \"bound\":\{$bound\}$" 'each rank is bound beside its GPU, and recorded so'
diag "beside $device: $cpus"
is "$(head -qn 1 gpu/*/null/*/launch-01.01.jsonl | grep -o '"uuid":"[^"]*"' | tr '\n' ' ')" \
    '"uuid":"GPU-mock-0" "uuid":"GPU-mock-1" ' "the recording has the UUID of each rank's GPU"
ok 'check accepts the recording of bound ranks' "$gradsync" check gpu/*/null/*
no_orphans 'no process is left'
done_testing
