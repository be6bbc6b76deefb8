#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# wan_sync on this host: its tables and calls, every strategy over every wire
# on 2 to 5 ranks, steps of a training, that a wrong sum is found, a rank that is killed or
# stands still, and the transport's faults as a run shows them; also under ASan.
. "$(dirname "$0")/lib.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'

config() { # FILE RANKS LINE…
    local file=$1 ranks=$2
    shift 2
    {
        printf '[platform]\nname = w\n[launch]\nranks = %s\noversubscribe = yes\nbind = none\n' \
            "$ranks"
        printf '[measure]\nlaunches = 1\nblocks = 1\nmax_blocks = 1\nsamples = 1\ndiscard = '\
'0\nbudget = 1ms\n'
        printf 'warmup = 1ms\nwarmup_ops = 1\nseed = 5\nretries = 0\n[wan_sync]\nprobe = 10ms\n'
        printf '%s\n' "$@"
    } >"$file"
}
# CONFIG…: measure; $lines is the recording, $fails what failed. The bound is for a run that hangs: each
# cell has a deadline of its own, and 33 cells of three ranks took 40 s on a machine with other work.
hung=600
measure() {
    rm -rf data
    run timeout $hung "$gradsync" run -q -o data "$@"
    lines=$(cat data/*/*/*/launch-*.jsonl 2>/dev/null)
    fails=$(grep '"type":"fail"' <<<"$lines" | grep -v '"kind":"skip"')
    [ $rc != 124 ] || fails+="not finished within $hung s"
}
blocks() { grep -c '"type":"block"' <<<"$lines"; }
# METRIC: its values, one a block
metric() { grep '"type":"block"' <<<"$lines" | sed -E "s/.*\"$1\":([-+.e0-9]+).*/\1/"; }
holds() { awk "BEGIN { exit !($1) }"; }
each() { # METRIC CONDITION: on x, for every block
    metric "$1" | awk "{ x = \$1 } !($2) { bad = 1 } END { exit bad || !NR }"
}

# ---- the plugin ----

ok "the plugin's tables and calls are good" \
    timeout $hung "$gradsync" check "$build/plugins/wan_sync.so"

# ---- right sums ----

ranks='2 3 4 5'
if under_asan; then ranks=3; fi # where memory is concerned, one number of ranks shows it
for n in $ranks; do
    config all.ini "$n" 'size = 4100' \
        'strategy = ring, direct, oneshot, hierarchical' \
        'site_ranks = 1' 'wire = fp32, bf16, int8, int4' 'streams = 2'
    measure all.ini
    is "$rc:$(blocks):$fails" 0:17: \
        "every strategy and wire on $n ranks gives the same sum on all"
    ok "the error of every wire on $n ranks is within its bound" awk \
        '$1 > $2 { bad = 1 } END { exit bad || !NR }' \
        <(paste <(metric max_error) <(metric error_bound))
done
config size.ini 3 'size = 4, 8, 300000' \
    'strategy = mpi, ring, direct, oneshot' \
    'block = 1KiB, 16KiB'
measure size.ini
is "$rc:$(blocks):$fails" 0:27: \
    'sums are right with fewer elements than ranks, and with thousands of blocks'
ok 'sums in fp32 are exact' each max_error 'x == 0'
config sites.ini 4 'size = 64KiB' 'strategy = mpi, hierarchical, ring' 'site_ranks = 2, 4' \
    'wire = int8' 'timeout = 5s'
measure sites.ini
is "$rc:$(blocks):$fails" 0:4: \
    'sites of several ranks give the right sum beside a ring of all ranks'
like "$(grep '"kind":"skip"' <<<"$lines")" 'strategy=mpi has no wire=int8 \(fp32\)' \
    'MPI with another wire than fp32 is skipped'

config wire.ini 3 'size = 1MiB' 'wire = fp32, bf16, int8, int4'
measure wire.ini
is "$(metric wire | sort -g | uniq | awk '{ printf "%s%.3f", sep, $1 / 1398101.3; sep = " " }')" \
    '0.129 0.254 0.500 1.000' \
    "bytes on the wire are 4 (S-1)/S a float times the wire's share, scales included"
ok 'the error of a lossy wire is recorded' holds "$(metric rms_error | sort -g | tail -n 1) > 0.05"
config lp.ini 4 'size = 64KiB' 'strategy = direct' 'shares = lp' 'rates = 4:4:1:4'
measure lp.ini
like "$lines" '"key":"shares","value":"0.3333 0.3333 0 0.3333"' \
    'a site with a slow uplink gets a smaller share'
config lp.ini 4 'size = 64KiB' 'strategy = direct' 'shares = lp'
measure lp.ini
is "$rc:$fails" 0: 'direct exchange with unequal shares works without given rates'
like "$lines" '"key":"shares","value":"0.25 0.25 0.25 0.25"' \
    'shares are equal where no rate is known, as on one host'

config tails.ini 4 'size = 64KiB' 'pattern = normal, student3' 'strategy = mpi, ring, direct' \
    'wire = fp32, int4'
measure tails.ini
is "$rc:$fails" 0: 'sums of floats with and without tails are within their bounds'
of() { # PATTERN METRIC CELL: of its last block
    local cell
    cell=$(grep '"type":"cell".*"copy":0' <<<"$lines" | grep "\"config\":\"$3\"" |
        grep "\"pattern\":\"$1\"" | sed -E 's/.*"cell":"([^"]*)".*/\1/')
    grep "\"type\":\"block\".*\"$cell\",\"copy\":0" <<<"$lines" | tail -n 1 |
        sed -E "s/.*\"$2\":([-+.e0-9]+).*/\1/"
}
ok 'fp32 rounds floats' holds \
    "$(of normal rms_error direct) > 1e-9 && $(of normal rms_error direct) < 1e-6"
ok 'int4 loses more of gradients with a heavy tail' holds \
    "$(of student3 rms_error direct/int4) > 1.2 * $(of normal rms_error direct/int4)"

config strategies.ini 2 'size = 4KiB' 'configs = ring, direct'
measure strategies.ini
is "$(grep -c '"key":"tcp_interface"' <<<"$lines")" 2 'each strategy has connections of its own'

# ---- a training ----

config train.ini 2 'size = 64KiB' 'compute = 2ms' 'accumulate = 2' 'every = 8' \
    'fragments = 1, 4' \
    'overlap = 0, 2' 'strategy = mpi, ring'
measure train.ini
is "$rc:$(blocks):$fails" 0:6: \
    'sums of training steps are right for every H, number of fragments and overlap'
ok 'a step computes all its micro-batches' each compute 'x >= 0.004'
like "$lines" '"busbw_factor":0\.0' 'a training step has no bus bandwidth'

# ---- a wrong sum is found ----

mkdir -p wrong
broken() { # NAME FILE SED: a plugin with one mistake
    local source objects=()
    source=$(find "$top/plugins/wan_sync" -name "$2.c")
    sed "$3" "$source" >"$1.c"
    if cmp -s "$1.c" "$source"; then return 1; fi
    OMPI_CC=${CC:-gcc} "${MPICC:-mpicc}" -std=c11 -D_GNU_SOURCE -O1 -I"$top/runner" \
        -I"$top/plugins" \
        -fPIC -fvisibility=hidden -c -o "$1.o" "$1.c" || return 1
    for o in "$build"/plugins/.obj/wan_sync/*.o; do # some are of sources that are gone
        source=${o##*/} source=$top/$(tr . / <<<"${source%.o}").c
        [ ! -e "$source" ] || [ "${source##*/}" = "$2.c" ] || objects+=("$o")
    done
    OMPI_CC=${CC:-gcc} "${MPICC:-mpicc}" -shared -o wrong/wan_sync.so "$1.o" \
        "${objects[@]}" -lm
}
wrong() { # NAME FILE SED KIND REGEX LINE…
    ok "a plugin builds that $1" broken mutant "$2" "$3"
    config wrong.ini 3 'size = 64KiB' "${@:6}"
    GRADSYNC_PLUGIN_PATH=$tmp/wrong measure wrong.ini
    is "$rc" 1 "a plugin that $1 ends with 1"
    like "$fails" "\"kind\":\"$4\",\"why\":\"$5" "a plugin that $1 is found to be $4"
}
# shellcheck disable=SC2016 # sed's own
if ! under_asan; then # mistakes of the sums, not of memory
    wrong 'forgets one addition' strategy \
        's/^        wire_of.*add(e->got.*/        if (t->seq % 7) &/' wrong \
        'element [0-9]+ of 16384 is .*, not .* within 0, on rank' 'strategy = ring'
    wrong 'forgets to decode' strategy '/case STEP_UNPACK/,/break;/s/wire_of.*decode.*;/(void)0;/' wrong \
        'element [0-9]+ of 16384' 'strategy = direct' 'wire = bf16'
    wrong 'forgets what a member of a site sends' sync 's/wire_of.WIRE_FP32..add(a->came,.*/;/' wrong \
        'element [0-9]+ of 16384 is' 'strategy = hierarchical' 'site_ranks = 3'
    wrong 'keeps a message inside a site' sync \
        's/if (!came)/if (!came || (a->rank == 2 \&\& s->phase == INWARD))/' lost \
        'the ranks of site 0 have not finished a sum for 2.8 s: a rank of the site is lost or stopped' \
        'strategy = hierarchical' 'site_ranks = 3' 'timeout = 1s'
    wrong 'forgets a block' strategy \
        's/^            if (e->link->ops->send(/            if (k != 3 \&\& e->link->ops->send(/' failed \
        'no block moved for 2.8 s; it waits for rank [0-2] on [^ ]+ \(site 0\), which may' 'timeout = 1s'
fi

# ---- ranks that go ----

rank_pid() { # RANK: the process that measures, whose parent is the shim of the same name
    local p
    for p in $(marked); do
        [ "$(cat "/proc/$p/comm" "/proc/$(tap_parent "$p")/comm" 2>/dev/null | uniq)" = gradsync-rank ] || continue
        if grep -qzx "OMPI_COMM_WORLD_RANK=$1" "/proc/$p/environ" 2>/dev/null; then echo "$p"; fi
    done
}
begun() { # its one block takes 20 s, so that it is found on a busy machine too
    grep -qs '"type":"header"' data/*/*/*/launch-*.jsonl && [ -n "$(rank_pid 1)" ]
}
lose() { # SIGNAL LINE…: rank 1 gets it while it measures
    config lose.ini 3 'size = 64KiB' 'compute = 50ms' 'every = 400' 'fragments = 4' 'timeout = 1s' \
        "${@:2}"
    rm -rf data
    timeout $hung "$gradsync" run -q -o data lose.ini --set measure:deadline=120s >out 2>err &
    local runner=$!
    until_true 60 begun || flunk 'the run with a rank to lose begins'
    kill -"$1" "$(rank_pid 1)"
    wait $runner
    rc=$? lines=$(cat data/*/*/*/launch-*.jsonl) err=$(cat err)
}
lose KILL
is "$rc" 1 'a rank that is killed ends the run with 1'
like "$lines" '"kind":"crash","why":"killed by SIGKILL[^"]*","rank":1,' \
    'the recording names the killed rank'
one_line "$err" 'a killed rank is reported in one line'
lose STOP
is "$rc" 1 'a rank that is stopped ends the run with 1'
like "$lines" '"why":"[^"]*stopped by a signal[^"]*","rank":1,' 'the recording names the stopped rank'

lose STOP 'strategy = hierarchical' 'site_ranks = 3'
is "$rc" 1 'a rank that is stopped inside its site ends the run with 1'
like "$lines" '"why":"[^"]*stopped by a signal[^"]*","rank":1,' \
    'the recording names the rank that is stopped inside its site'

# ---- the transport's faults, as a run shows them ----

# PORT + 1 is rank 1's.
build_sockets
./sockets listen 29471 >taker &
taker=$!
ok 'another program listens on a port' until_true 60 test -s taker
config port.ini 2 'size = 4KiB' 'port = 29470'
measure port.ini
is "$rc" 1 'a port that another program holds ends the run with 1'
like "$fails" 'port 29471' 'the recording names the port that another program holds'
kill $taker 2>/dev/null
config one_port.ini 2 'size = 4KiB' 'streams = 1,3' 'port = 29480'
measure one_port.ini
is "$rc:$fails" 0: 'cells with different links alternate on one port'
no_orphans 'no process is left running'
done_testing
