#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# mpi_allreduce and iter_proxy: the algorithms on awkward numbers of ranks, what cells are refused and
# skipped, that a wrong sum is found, and what the recordings say of a cell; also under ASan.
. "$(dirname "$0")/lib.sh"

mpicc=${MPICC:-mpicc}
command -v "$mpicc" >/dev/null || skip_all "needs $mpicc"
common=$top/plugins/common
flags=(-std=c11 -D_GNU_SOURCE -O2 -g -I"$top/plugins" -I"$top/runner")
launch=("${MPIRUN:-mpirun}" --oversubscribe --mca mpi_yield_when_idle 1)

# ---- the algorithms ----

driver() { # NAME ALGORITHMS: the driver with that version of allreduce_p2p.c
    "$mpicc" "${flags[@]}" -o "$1" "$top/tests/mpi/allreduce.c" "$2" "$common/payload.c" -lm
}
ok 'the driver compiles' driver right "$common/allreduce_p2p.c"
for n in 2 3 4 5 7 8; do
    ok "every algorithm, type, operation and count on $n ranks" "${launch[@]}" -n "$n" ./right
done

mutant() { # RANKS NAME SED: one mistake in the source, and the driver must find it
    sed "$3" "$common/allreduce_p2p.c" >"$2.c"
    if cmp -s "$common/allreduce_p2p.c" "$2.c"; then flunk "$2 changes the source" && return; fi
    driver "$2" "$2.c" || flunk "$2 compiles"
    run timeout 60 "${launch[@]}" -n "$1" "./$2"
    isnt "$rc" 0 "on $1 ranks a driver finds: $2"
}
mutant 3 ring_adds_another_chunk 's/sent(c, in.first), at(c, in.first), in.n)/sent(c, out.first), at(c, in.first), in.n)/'
mutant 3 extra_rank_forgotten '/if (lent_to)/{n;s/rc = receive_and_combine.*/rc = receive(c, c->rank - 1, c->scratch, n);/}'
mutant 2 input_not_copied 's/memcpy(c->recv, c->send,/memmove(c->recv, c->recv,/'
mutant 4 halves_swapped 's/upper ? window + bit : window, bit/upper ? window : window + bit, bit/'

# ---- what is refused, what is skipped ----

config() { # FILE RANKS LINE…
    local file=$1 ranks=$2
    shift 2
    {
        printf '[launch]\nranks = %s\noversubscribe = yes\nbind = none\n' "$ranks"
        printf '[measure]\nlaunches = 1\nblocks = 3\nmax_blocks = 3\nsamples = 2\nbudget = 100ms\n'
        printf 'warmup = 1ms\nwarmup_ops = 1\nseed = 5\n'
        printf '%s\n' "$@"
    } >"$file"
}
refused() { # NAME REGEX RANKS LINE…
    config refused.ini "${@:3}"
    exits 2 "refused: $1" "$gradsync" plan refused.ini
    like "$err" "^refused\.ini:[0-9]+: .*$2" 'by file, line and reason'
    one_line "$err" 'in one line'
}
refused 'one rank' 'ranks=1.*at least 2' 1 '[mpi_allreduce]'
refused 'half an element' 'size=10 is not a multiple of the 4 bytes of dtype=float32' 2 '[mpi_allreduce]' 'size = 10'
refused 'a size no element divides' 'size=12 .*8 bytes of dtype=int64' 2 '[mpi_allreduce]' 'size = 12' 'dtype = int64'
refused 'size 0' "'size'.*'0'" 2 '[mpi_allreduce]' 'size = 0'
refused 'more than MPI counts' 'dtype=uint8 that MPI can count' 2 '[mpi_allreduce]' 'size = 4GiB' 'dtype = uint8'
refused 'an unknown algorithm' "did you mean 'ring'" 2 '[mpi_allreduce]' 'algorithm = rign'
refused 'one rank for a step' 'ranks=1.*at least 2' 1 '[iter_proxy]' 'backend = host'
refused 'half a gradient element' 'size=6 is not a multiple of the 4 bytes' 2 '[iter_proxy]' 'size = 6'
refused 'more buckets than elements' 'buckets=3 .* 2 elements of size=8' 2 '[iter_proxy]' 'size = 8' 'buckets = 3'

# RUN CONFIG: measure; $dir is the run folder, $lines its recording
measure() {
    rm -rf data
    run "$gradsync" run -q -o data "$1"
    dir=$(echo data/*/*/*)
    lines=$(cat "$dir"/{launch,skipped}-*.jsonl 2>/dev/null)
}
count() { grep -c "$1" <<<"$lines"; }

skipped() { # NAME REGEX LINE…
    config skipped.ini 2 "${@:3}"
    measure skipped.ini
    like "$(grep '"type":"fail"' <<<"$lines")" "\"kind\":\"skip\",\"why\":\"[^\"]*$2" "skipped: $1"
}
skipped 'uint8 sums in place, again and again' 'dtype=uint8 op=sum in_place=yes metric=T_ss' \
    '[mpi_allreduce]' 'size = 64' 'dtype = uint8' 'in_place = yes'
skipped 'a protocol on the host' 'backend=host has no protocol=LL \(auto\)' \
    '[iter_proxy]' 'backend = host' 'size = 64' 'gemm = 16' 'protocol = LL'
mkdir alone && cp "$build/plugins/iter_proxy.so" alone/
export GRADSYNC_PLUGIN_PATH=$tmp/alone
skipped 'a backend that is not here' 'backend=cuda is not here: .*alone/iter_proxy/cuda\.so' \
    '[iter_proxy]' 'backend = host, cuda' 'size = 64' 'gemm = 16'
config auto.ini 2 '[iter_proxy]' 'size = 64' 'gemm = 16' 'gemms = 3'
measure auto.ini
is "$rc" 0 'backend = auto is the host where there is no other'
like "$lines" '"key":"backend","value":"host"' 'and says so'
unset GRADSYNC_PLUGIN_PATH

# ---- right results, and what the recording says ----

config all.ini 3 '[mpi_allreduce]' 'size = 1048' 'dtype = float32, float64, int32, int64, uint8' \
    'op = sum, prod, max, min' 'in_place = no, yes' 'metric = T_ss, L_iso' 'exclude = dtype=uint8 op=sum' \
    'algorithm = auto, ring, tree, recursive_doubling, rabenseifner'
measure all.ini
is "$rc" 0 'every type, operation and algorithm on 3 ranks is right'
is "$(count '"type":"fail"')" 0 'and none fails'
is "$(count '"type":"group"')" 76 'in every group'
is "$(grep '"span":true' <<<"$lines" | grep -vc '"iters":1,')" 0 'L_iso is one operation'
is "$(grep -c '"span":true' <<<"$lines")" "$(grep -c '"span":false' <<<"$lines")" 'and half of the cells'
is "$(grep '"span":false' <<<"$lines" | grep -cE '"iters":(.|1[0-5]),')" 0 'T_ss is 16 operations or more'
like "$lines" '"busbw_factor":1\.333' 'busbw is 2(n-1)/n'

config cold.ini 2 '[mpi_allreduce]' 'size = 64KiB' 'buffers = hot, cold' 'in_place = no, yes'
measure cold.ini
is "$rc:$(count '"type":"group"')" 0:4 'hot and cold buffers are right'
like "$lines" '"key":"slots","value":"[0-9]{2,}"' 'and how much is cold is said'

config step.ini 2 '[iter_proxy]' 'backend = host' 'size = 4KiB' 'buckets = 1, 3' 'gemm = 32' 'gemms = 1, 4' \
    'issue = after, beside' 'mode = compute, comm, sequential, overlapped' \
    'algorithm = auto, ring, tree, recursive_doubling, rabenseifner'
measure step.ini
is "$rc:$(count '"type":"group"')" 0:8 'every mode, schedule and algorithm of a step is right'
is "$(count '"type":"fail"')" 0 'and none fails'
is "$(grep '"type":"cell"' <<<"$lines" | grep -c '"mode":"compute"')" 8 'compute is measured once a group'
is "$(grep '"type":"cell"' <<<"$lines" | grep '"mode":"comm"' | grep -o '"config":"[^"]*"' | sort -u | wc -l)" 5 \
    'communication with every algorithm'

config one.ini 2 '[iter_proxy]' 'backend = host' 'size = 4KiB' 'gemm = 32' 'mode = compute, comm, sequential, overlapped'
measure one.ini
planned=$("$gradsync" plan one.ini | sed -n 's/^\([0-9]*\) cells in 1 group.*/\1/p')
is "$rc:$planned:$(count '"type":"cell"')" 0:4:4 'a step of one config compares nothing: no cell has a second copy'

# ---- a wrong sum is found ----

broken() { # NAME SOURCES… -- LIBS: PLUGIN.so with the mutant that adds another chunk
    local name=$1
    shift
    mkdir -p wrong
    "$mpicc" "${flags[@]}" -fPIC -shared -o "wrong/$name.so" ring_adds_another_chunk.c "$common"/{payload,beside,collective}.c "${mpi_collectives:-$common/collective_mpi.c}" \
        "$@" -lm
}
export GRADSYNC_PLUGIN_PATH=$tmp/wrong
ok 'mpi_allreduce with a wrong ring' broken mpi_allreduce "$top"/plugins/mpi_allreduce/*.c
config wrong.ini 2 '[mpi_allreduce]' 'size = 64KiB' 'algorithm = auto, ring'
measure wrong.ini
is "$rc" 1 'ends with 1'
like "$(grep '"type":"fail"' <<<"$lines")" '"kind":"wrong","why":"element [0-9]+ of 16384 is' 'names the element'
like "$lines" '"type":"block"' 'and the right config is measured'
ok 'iter_proxy with a wrong ring' broken iter_proxy "$top"/plugins/iter_proxy/*.c "$common"/{gemm,step_file}.c -lopenblas
config wrong.ini 2 '[iter_proxy]' 'backend = host' 'size = 64KiB' 'gemm = 32' 'algorithm = auto, ring'
measure wrong.ini
is "$rc" 1 'ends with 1'
like "$(grep '"type":"fail"' <<<"$lines")" '"kind":"wrong","why":"element [0-9]+ of the reduced gradient' 'names the element'
unset GRADSYNC_PLUGIN_PATH

no_orphans 'nothing is left running'
done_testing
