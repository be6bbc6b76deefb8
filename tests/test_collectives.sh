#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The collectives beside the all-reduce: their results, sizes and bus bandwidth on the host; what is
# refused; that a wrong result is found; and that cells of older recordings keep their ids.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

mpicc=${MPICC:-mpicc}
command -v "$mpicc" >/dev/null || skip_all "needs $mpicc"
collectives='allgather, reducescatter, alltoall, broadcast, reduce, sendrecv'

factor() { # COLLECTIVE: its busbw_factor
    grep '"type":"cell"' <<<"$lines" | grep "\"collective\":\"$1\"" |
        grep -o '"busbw_factor":[0-9.]*' | sort -u
}

# ---- right results ----

config cold.ini 3 '[mpi_allreduce]' 'size = 24600' 'buffers = cold' "collective = $collectives"
measure cold.ini
is "$rc:$(count '"type":"group"')" 0:6 'every collective is right on 3 ranks in cold buffers'
config all.ini 3 '[mpi_allreduce]' 'size = 24, 24600' 'dtype = float32, float64' \
    'metric = T_ss, L_iso' "collective = $collectives"
measure all.ini
is "$rc:$(count '"type":"fail"'):$(count '"type":"group"')" 0:0:48 \
    'every collective is right on 3 ranks in hot buffers'
while read -r one factor; do
    like "$(factor "$one")" "^\"busbw_factor\":${factor}[0-9]*\$" \
        "busbw of $one is that of nccl-tests"
done <<'END'
allgather 0.666
reducescatter 0.666
alltoall 0.666
broadcast 1.0
reduce 1.0
sendrecv 1.0
END
ok 'the recording of every collective is reduced' "$gradsync" query -q data --export csv
is "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["param_collective"] == "allgather" { n++; r = $at["busbw_Bps"] / $at["algbw_Bps"] }
    $at["param_collective"] == "allgather" { good += r > 0.666 && r < 0.667 }
    END { print n - good }' csv/summary.csv)" 0 'the table has the bus bandwidth of an all-gather'
like "$("$gradsync" show "$dir")" 'collective=alltoall|alltoall' 'show tells the collectives apart'

# ---- figures and limits ----

config curves.ini 2 '[limits]' 'busbw = 1TB/s' 'source = nowhere' '[mpi_allreduce]' \
    'size = 1KiB, 2KiB, 4KiB' 'collective = allreduce, allgather'
measure curves.ini
mkdir -p part
ok 'an all-reduce and an all-gather in one section are reduced' \
    "$gradsync" query -q "$dir" --export part
panels panels curves/mpi_allreduce part
is "$(cd panels && echo *.plot)" 'mpi_allreduce-collective-allgather.plot mpi_allreduce.plot' \
    'an all-reduce and an all-gather have a panel each'
cp part/summary.csv csv/summary.csv
is "$(grep -c ',possible$' part/limits.csv)|$(grep -c 'impossible' part/limits.csv)" '6|0' \
    'the bus bandwidth of both is possible'

# ---- a cell of an older recording ----

cell() { # PLATFORM LINE…: the id that the plan of its one cell gives it
    printf '%s\n' '[launch]' 'ranks = 2' '[mpi_allreduce]' 'size = 1MiB' "${@:2}" >"$1.ini"
    "$gradsync" plan --all "$1.ini" | grep -oE '[0-9a-f]{16}' | head -n 1
}
id_of() { # PLATFORM [COLLECTIVE]: the id by plan.h
    printf '%s\n' "platform=$1" workload=mpi_allreduce ranks=2 nodes=1 algorithm=auto buffers=hot \
        ${2:+"collective=$2"} dtype=float32 in_place=no metric=T_ss size=1MiB |
        sha256sum | cut -c1-16
}
is "$(cell old)" "$(id_of old)" \
    'an all-reduce has the id it had before there were other collectives'
is "$(cell same 'collective = allreduce')" "$(id_of same)" \
    'an all-reduce has that id where the config names it, too'
is "$(cell new 'collective = allgather')" "$(id_of new allgather)" \
    'the id of another collective contains its name'

skipped() { # NAME REGEX LINE…
    config skipped.ini 2 "${@:3}"
    like "$("$gradsync" plan --all skipped.ini 2>&1)" "$2" "plan skips $1"
}
skipped 'a ring that gathers' 'algorithm=ring is an all-reduce: use algorithm=auto' \
    '[mpi_allreduce]' 'algorithm = ring' 'collective = allgather'
skipped 'in place on the host' 'use in_place=no' \
    '[mpi_allreduce]' 'in_place = yes' 'collective = alltoall'
skipped 'a maximum that is only copied' 'reduces nothing: use op=sum' \
    '[nccl_allreduce]' 'op = max' 'collective = allgather'
skipped 'a ring of sends' 'have no algorithm or protocol' \
    '[nccl_allreduce]' 'algorithm = ring' 'collective = sendrecv'
for cell in 'collective = broadcast' 'collective = allgather/memory = plain'; do
    IFS=/ read -r collective memory <<<"$cell"
    skipped "what no copy engine does: $cell" \
        'policy=zero needs memory=symmetric and collective=allgather or alltoall' \
        '[nccl_allreduce]' 'policy = zero' "$collective" "${memory:-memory = symmetric}"
done

# ---- a wrong result is found ----

broken() { # SED: mpi_allreduce.so with these mistakes in mpi_calls.c
    local common=$top/plugins/common
    mkdir -p wrong
    sed "$1" "$common/mpi_calls.c" >mpi_calls.c
    if cmp -s "$common/mpi_calls.c" mpi_calls.c; then return 1; fi
    "$mpicc" -std=c11 -D_GNU_SOURCE -O2 -I"$top/plugins" -I"$top/runner" -fPIC -shared \
        -o wrong/mpi_allreduce.so mpi_calls.c "$common"/{payload,collective}.c \
        "$top"/plugins/mpi_allreduce/*.c -lm
}
config wrong.ini 3 '[mpi_allreduce]' 'size = 24600' "collective = $collectives"
export GRADSYNC_PLUGIN_PATH=$tmp/wrong
ok 'collectives that do nothing compile' broken 's/return MPI_/return 0 \&\& MPI_/'
measure wrong.ini
is "$rc:$(count '"kind":"wrong"')" 1:6 'collectives that do nothing are all found'
ok 'collectives of the wrong block or rank compile' broken '
    s/MPI_Allgather(c->send/MPI_Allgather(c->send + 4/
    s/MPI_Alltoall(/MPI_Allgather(/
    s/MPI_Reduce_scatter_block(c->send/MPI_Reduce_scatter_block(c->send + 4/
    s/COLLECTIVE_ROOT, c->comm/1, c->comm/
    s/next, TAG, \(.*\) previous,/previous, TAG, \1 next,/'
measure wrong.ini
is "$rc:$(count '"kind":"wrong"')" 1:6 'collectives of the wrong block or rank are all found'
like "$(grep '"kind":"wrong"' <<<"$lines")" '"why":"element [0-9]+ of 6150 is .* on rank [0-2]"' \
    'the record of a wrong result names the element'
unset GRADSYNC_PLUGIN_PATH

no_orphans 'no process is left'
done_testing
