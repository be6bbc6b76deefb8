# Not under ASan: import.cmd has the same readers.
# What other people's output looks like (tests/cases): which tables are launches of one config, text that was copied or
# labelled, and programs that import does not read.
# runs FILE OPTION…: a line for each launch: its run, platform, ranks, config, and the time of 1 MiB out of place
runs() {
    rm -rf raw
    gradsync import -q -o raw "${@:2}" "$cases/$1" >/dev/null || return
    local f n=0
    for f in $(for f in raw/*/*/*/launch-01.01.jsonl; do echo "$(head -n 1 $f | jq .imported.line) ${f%/*}"; done |
        sort -n | sed 's,.* \(.*\),\1/launch-*,'); do
        case $f in *launch-01*) n=$((n + 1)) ;; esac
        jq -rs --arg n $n '(.[] | select(.type == "header")) as $h |
            first(.[] | select(.type == "cell" and .params.size == "1MiB" and .params.in_place == "no")) as $c |
            first(.[] | select(.type == "block" and .cell == $c.cell)) as $b |
            "run \($n): \($h.platform), \($h.ranks) ranks, \($c.config): \($b.time_ns[0] / $b.iters / 1000) us"' "$f"
    done
}
cases=$top/tests/cases
$ for f in headings.md two_versions.log two_hosts.log env_blocks.md; do echo "$f" && runs pooled_by_heading/$f --platform p; done
$ for f in nbsp.txt docker_json.txt; do echo "$f" && runs copied_text/$f --platform p; done
$ for f in prepend_rank.txt info_inside_row.txt; do echo "$f" && runs label_inside_row/$f --platform p; done
$ for f in j_oneproc.json j_mpi2x8.json; do echo "$f" && runs json_first_device_only/$f; done
for c in alltoall reduce_scatter; do rm -rf raw && gradsync import -q -o raw --platform p $cases/show_names_collective/$c.txt >/dev/null && gradsync show raw 2>/dev/null | sed -n 's/, run .*//p' >>titles; done
$ cat titles
printf '%s\n' '#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part' '#bytes #repetitions  t_min[usec]' '0 1000 0.1' >imb
printf '%s\n' ' RDMA_Write BW Test' ' #bytes  #iterations  BW peak[MB/sec]  BW average[MB/sec]' ' 65536  5000  11000  10900' >ib_write_bw
printf '%s\n' '{"start": {}, "intervals": [{"sum": {"bits_per_second": 1e9}}], "end": {}}' >iperf3.json
printf '%s\n' '[ ID] Interval  Transfer  Bitrate' '[  5] 0.00-1.00 sec 1.10 GBytes 9.42 Gbits/sec' >iperf3
printf '%s\n' '[{"numCycle": 0, "size": 8, "busBw": 1.0}]' >rccl.json
printf '%s\n' ' COMMS-RES-all_reduce-float32  1048576 0 1 2 3' >param
$ for f in imb ib_write_bw iperf3.json iperf3 rccl.json param; do gradsync import --platform p -o raw $f; done
