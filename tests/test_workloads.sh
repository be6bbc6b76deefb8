#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# mpi_allreduce and iter_proxy: the algorithms on awkward numbers of ranks, which cells are refused
# and which skipped, that a wrong sum is found, and what the recordings say of a cell;
# also under ASan.
. "$(dirname "$0")/lib.sh"

mpicc=${MPICC:-mpicc}
command -v "$mpicc" >/dev/null || skip_all "needs $mpicc"
common=$top/plugins/common
flags=(-std=c11 -D_GNU_SOURCE -O2 -g -I"$top/plugins" -I"$top/runner")
launch=("${MPIRUN:-mpirun}" --oversubscribe --mca mpi_yield_when_idle 1)

# ---- the algorithms ----

driver() { # NAME ALGORITHMS: the driver with that version of mpi_calls.c
    "$mpicc" "${flags[@]}" -o "$1" "$top/tests/mpi/allreduce.c" "$2" "$common"/{payload,collective}.c -lm
}
if ! under_asan; then # the driver is built without it
    ok 'the driver compiles' driver right "$common/mpi_calls.c"
    for n in 2 3 4 5 7 8; do
        ok "every algorithm, type and count is right on $n ranks" \
            "${launch[@]}" -n "$n" ./right
    done

    mutant() { # RANKS NAME SED: one mistake in the source, and the driver must find it
        sed "$3" "$common/mpi_calls.c" >"$2.c"
        if cmp -s "$common/mpi_calls.c" "$2.c"; then flunk \
            "the mistake $2 changes the source" && return; fi
        driver "$2" "$2.c" || flunk "the driver with the mistake $2 compiles"
        run timeout 60 "${launch[@]}" -n "$1" "./$2"
        isnt "$rc" 0 "the driver on $1 ranks finds the mistake $2"
    }
    mutant 3 ring_adds_another_chunk \
        's/sent(c, in.first), at(c, in.first), in.n)/sent(c, out.first), at(c, in.first), in.n)/'
    mutant 3 child_not_added 's/PASS(combine(c, c->scratch, c->recv, n));//'
    mutant 2 input_not_copied 's/memcpy(c->recv, c->send,/memmove(c->recv, c->recv,/'
fi

# ---- what is refused, what is skipped ----

blocks=3 samples=2
skipped() { # NAME REGEX LINE…
    config skipped.ini 2 "${@:3}"
    measure skipped.ini
    like "$(grep '"type":"fail"' <<<"$lines")" "\"kind\":\"skip\",\"why\":\"[^\"]*$2" \
        "a cell is skipped with its reason: $1"
}
skipped 'a protocol on the host' 'backend=host has no protocol=LL \(auto\)' \
    '[iter_proxy]' 'backend = host' 'size = 64' 'gemm = 16' 'protocol = LL'
mkdir alone && cp "$build/plugins/iter_proxy.so" alone/
export GRADSYNC_PLUGIN_PATH=$tmp/alone
skipped 'a backend that is not installed' 'backend=cuda is not here: .*alone/iter_proxy/cuda\.so' \
    '[iter_proxy]' 'backend = host, cuda' 'size = 64' 'gemm = 16'
config auto.ini 2 '[iter_proxy]' 'size = 64' 'gemm = 16' 'gemms = 3'
measure auto.ini
is "$rc" 0 'backend = auto is the host where there is no other'
like "$lines" '"key":"backend","value":"host"' 'the recording says that the host is the backend'
unset GRADSYNC_PLUGIN_PATH

# ---- right results, and what the recording says ----

config all.ini 3 '[mpi_allreduce]' 'size = 1048' 'dtype = float32, float64' \
    'in_place = no, yes' 'metric = T_ss, L_iso' \
    'algorithm = auto, ring, tree'
measure all.ini
is "$rc" 0 'every type and algorithm on 3 ranks is right'
is "$(count '"type":"fail"')" 0 'no cell fails among types and algorithms'
is "$(count '"type":"group"')" 8 'every group of types is closed'
is "$(grep '"span":true' <<<"$lines" | grep -vc '"iters":1,')" 0 'L_iso measures a single operation'
is "$(grep -c '"span":true' <<<"$lines")" "$(grep -c '"span":false' <<<"$lines")" \
    'L_iso and T_ss have as many cells each'
is "$(grep '"span":false' <<<"$lines" | grep -cE '"iters":(.|1[0-5]),')" 0 \
    'T_ss measures 16 operations or more'
like "$lines" '"busbw_factor":1\.333' 'the bus bandwidth factor is 2(n-1)/n'

config step.ini 2 '[iter_proxy]' 'backend = host' 'size = 4KiB' 'buckets = 1, 3' 'gemm = 32' \
    'gemms = 1, 4' \
    'issue = after, beside' 'mode = compute, comm, sequential, overlapped' \
    'algorithm = auto, ring, tree'
measure step.ini
is "$rc:$(count '"type":"group"')" 0:8 'every mode, schedule and algorithm of a step is right'
is "$(count '"type":"fail"')" 0 'no cell of a step fails'
is "$(grep '"type":"cell"' <<<"$lines" | grep -c '"mode":"compute"')" 8 \
    'compute is measured once in each group'
is "$(grep '"type":"cell"' <<<"$lines" | grep '"mode":"comm"' | grep -o '"config":"[^"]*"' | sort \
    -u | wc -l)" 3 \
    'communication is measured with every algorithm'

config one.ini 2 '[iter_proxy]' 'backend = host' 'size = 4KiB' 'gemm = 32' \
    'mode = compute, comm, sequential, overlapped'
measure one.ini
planned=$("$gradsync" plan one.ini | sed -n 's/^\([0-9]*\) cells in 1 group.*/\1/p')
is "$rc:$planned:$(count '"type":"cell"')" 0:4:4 \
    'a step of one config compares nothing: no cell has a second copy'

# ---- a wrong sum is found ----

broken() { # NAME SOURCES… -- LIBS: PLUGIN.so with the mutant that adds another chunk
    local name=$1
    shift
    mkdir -p wrong
    "$mpicc" "${flags[@]}" -fPIC -shared -o "wrong/$name.so" ring_adds_another_chunk.c \
        "$common"/{payload,collective,host}.c "$@" -lm
}
if ! under_asan; then # nor are these
    export GRADSYNC_PLUGIN_PATH=$tmp/wrong
    ok 'mpi_allreduce builds with a wrong ring' broken mpi_allreduce "$top"/plugins/mpi_allreduce/*.c
    config wrong.ini 2 '[mpi_allreduce]' 'size = 64KiB' 'algorithm = auto, ring'
    measure wrong.ini
    is "$rc" 1 'mpi_allreduce with a wrong ring ends with 1'
    like "$(grep '"type":"fail"' <<<"$lines")" '"kind":"wrong","why":"element [0-9]+ of 16384 is' \
        'the recording names the wrong element of mpi_allreduce'
    like "$lines" '"type":"block"' 'the config beside the wrong ring is measured'
    ok 'iter_proxy builds with a wrong ring' \
        broken iter_proxy "$top"/plugins/iter_proxy/*.c -lopenblas
    config wrong.ini 2 '[iter_proxy]' 'backend = host' 'size = 64KiB' 'gemm = 32' \
        'algorithm = auto, ring'
    measure wrong.ini
    is "$rc" 1 'iter_proxy with a wrong ring ends with 1'
    like "$(grep '"type":"fail"' <<<"$lines")" \
        '"kind":"wrong","why":"element [0-9]+ of the reduced gradient' \
        'the recording names the wrong element of iter_proxy'
    unset GRADSYNC_PLUGIN_PATH
fi

no_orphans 'no process is left running'
done_testing
