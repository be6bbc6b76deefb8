# Small inputs in the forms of public logs and reports: tests/cases has a folder for each kind, and further inputs of
# each kind are made here. Import must read what they say.
# Not under ASan: it takes long.
cases=$top/tests/cases
import() { rm -rf raw csv && gradsync import -o raw "$@" >/dev/null 2>err; }
# what COLUMN…: of the cells of the last import: how many, the first and the last by size, out of place first
what() {
    gradsync query -q raw --export csv && csv csv/summary.csv '{ printf "%d %d ", get("size_B"), get("params") ~ /in_place=yes/ } 1' "$@" |
        sort -s -n -k1,1 -k2,2 | cut -d' ' -f3- | awk 'NR == 1 { first = $0 } END { print NR " cells: " first "; " $0 }'
}
as_table() { import "$@" && what ranks workload median_s || cat err; }
# Lines with a prefix, without a '#', behind other lines: all are the same table.
$ for f in $cases/line_prefix/*.txt $cases/hash_eaten/issue.txt $cases/json_line_first/t.txt; do as_table $f; done
plain() { tail -n +2 $cases/json_line_first/t.txt; }
prefixed() { # of lines that begin with PREFIX, in which %d is a number: what is not that table
    while IFS= read -r prefix; do
        plain | awk -v p="$prefix" '{ q = p; gsub(/%d/, NR + 7, q); print q $0 }' >prefix.txt
        echo "$prefix$(as_table prefix.txt)"
    done
}
cat >prefixes <<'END'
0: 
 0: 
[1,%d]<stdout>:
[1,0]<stderr>: 
[rank0]:
[default0]: [rank0]:
launcher-1  | 
node%d: 
2026-03-04 05:06:%d,123 - INFO - root - 
2026-03-04 05:06:07.%d | INFO     | __main__:run:42 - 
Mar  4 05:06:%d node-a job[123]: 
2026-03-04T05:06:%dZ stdout F 
[2026-03-04 05:06:%d+00:00] [INFO] 
[  %d.123456] 
INFO:root:
(RayTrainWorker pid=%d, ip=10.0.0.1) 
> 
END
$ prefixed <prefixes
plain | sed $'s/^/\033[36mlauncher |\033[0m /' >colour.txt
plain | sed 's/nThread/NTHREAD/; s/Rank/RANK/; s/size  /SIZE  /; s/ time / TIME /g; s/busbw/BusBW/g' >case.txt
plain | sed 's/^/0: /; 1s/^/0: + mpirun x\n/' >srun.txt
{ cat $cases/json_line_first/t.txt && echo 12; } | sed '1s/.*/17/' >number.txt
awk '{ print (NR < 9 ? "[pod/a]" : "?!") $0 }' $cases/hash_eaten/issue.txt >odd.txt
$ for f in colour case srun number odd; do as_table $f.txt; done
# A table without its head: the bandwidths tell the number of ranks, which must be given.
headless() { import --platform p "$@" $cases/table_without_head/table.txt && what ranks workload busbw_Bps || cat err; }
$ headless --set ranks=4 | sed -E 's/([0-9]{4})[0-9.]+/\1…/g'
$ headless
$ headless --set ranks=8
# Other collectives, by their tables or by the program that a line before the table names.
collective() { what ranks median_s busbw_Bps && ls raw/* && sed -nE 's/.*"collective":"([a-z]*)".*/\1/p' raw/*/*/*/launch-*.jsonl | sort -u; }
short() { sed -E 's/([0-9]\.[0-9]{4})[0-9]+|([0-9]{5})[0-9.]{5,}/\1\2…/g'; }
$ import $cases/old_all_gather_zero_rows/all_gather.txt && collective | short
$ import $cases/two_ranks_not_allreduce/broadcast.txt && collective | short
table() { # PROGRAM OP ROOT PARTS WRONG_IN_PLACE: of two ranks; PARTS: elements are of one rank's part
    [ -z "$1" ] || echo "$ mpirun -np 2 ./build/$1 -b 1M -e 4M -f 2 -g 1"
    sed -n '4,12p' $cases/json_line_first/t.txt | sed '/nccl-tests version/d; /Collective/d'
    awk -v op="$2" -v root="$3" -v parts="$4" -v wrong="$5" 'BEGIN {
        for (s = 1048576; s <= 4194304; s *= 2) {
            us = 100 + s / 5000; a = s / us / 1e3; f = parts == 1 ? 1 : 0.5
            printf "%12d %12d float %6s %6d %8.1f %6.2f %6.2f 0 %8.1f %6.2f %6.2f %s\n", s, \
                s / 4 / parts, op, root, us, a, a * f, us, a, a * f, wrong
        }
        print "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 9.5"
    }' >table.txt && cat table.txt
}
recorded_as() { table "$@" >c.txt && import c.txt && echo $(collective | sed 's/;.*//') || cat err; }
$ recorded_as '' none 0 1 0
$ recorded_as broadcast_perf none 1 1 0
$ recorded_as '' sum 0 1 0
$ recorded_as reduce_perf sum 0 1 0
$ recorded_as '' sum -1 1 N/A
$ recorded_as sendrecv_perf sum -1 1 0
$ recorded_as '' none -1 1 N/A
$ recorded_as '' none -1 2 0
$ recorded_as all_gather_perf none -1 2 N/A
$ recorded_as '' none -1 2 N/A
$ recorded_as alltoall_perf none -1 2 0
$ recorded_as '' sum -1 2 0
$ recorded_as reduce_scatter_perf sum -1 2 0
$ recorded_as gather_perf none 0 2 0
$ recorded_as scatter_perf none 0 2 0
# Only its name tells a gather from a scatter; a command of another program is of another table.
$ recorded_as '' none 0 2 0
$ for name in gather scatter; do import --set collective=$name c.txt && echo $(collective); done
$ recorded_as '' none -1 1 0
$ import --set collective=allreduced c.txt || cat err
$ recorded_as all_gather_perf sum -1 1 0
# Two ranks on one GPU, and on two devices with one bus.
$ gradsync import -o shared $cases/two_ranks_one_gpu/t.txt
sed 's/Rank  1 \(.*\)device  0/Rank  1 \1device  1/' $cases/two_ranks_one_gpu/t.txt >two.txt
$ gradsync import -o two two.txt
# Several settings in one log, by the lines before its tables.
$ import $cases/two_settings_one_log/log.txt && what config median_s
body() { sed -n 3,9p $cases/two_settings_one_log/log.txt; }
other() { sed -n 12,18p $cases/two_settings_one_log/log.txt; }
settings() { # of lines A|B: the configs of a log with A before its first table and B before its second; @ is a prompt
    while IFS='|' read -r a b; do
        { printf '%b\n' "$a" && body && printf '%b\n' "$b" && other; } | sed 's/^@/$ /' >log.txt
        import log.txt && what >/dev/null && echo "$b: $(csv csv/summary.csv 1 config | sort -u | paste -sd' ')"
    done
}
cat >logs <<'END'
@NCCL_ALGO=Ring ./all_reduce_perf -b 8|@NCCL_ALGO=Tree ./all_reduce_perf -b 8
@./all_reduce_perf|@env NCCL_PROTO=LL128 ./all_reduce_perf
+ NCCL_PROTO=LL\n+ ./all_reduce_perf|+ ./all_reduce_perf
export NCCL_PROTO=LL|unset NCCL_PROTO
@export NCCL_ALGO=Ring NCCL_PROTO=LL|@export NCCL_PROTO=Simple
[u@node dir]$ mpirun -x NCCL_MAX_NCHANNELS=4 all_reduce_perf|[u@node dir]$ mpirun -x NCCL_MAX_NCHANNELS=8 all_reduce_perf
@mpirun --mca btl tcp,self all_reduce_perf|@mpirun --mca btl self,vader all_reduce_perf
@mpiexec -genv NCCL_PROTO LL all_reduce_perf|@mpiexec -genv NCCL_PROTO Simple all_reduce_perf
@srun --export=ALL,NCCL_ALGO=Ring ./all_reduce_perf|@srun --export=ALL,NCCL_ALGO=Tree ./all_reduce_perf
@mpirun -np 2 \\\n  -x NCCL_PROTO=LL \\\n  ./all_reduce_perf|@mpirun -np 2 \\\n  -x NCCL_PROTO=Simple \\\n  ./all_reduce_perf
@CUDA_VISIBLE_DEVICES=0,1 ./all_reduce_perf|@CUDA_VISIBLE_DEVICES=0,2 ./all_reduce_perf
== NCCL_PROTO=LL ==|== NCCL_PROTO=Simple ==
@./all_reduce_perf -R 0|@./all_reduce_perf -R 1
@NCCL_DEBUG=INFO ./all_reduce_perf|@NCCL_DEBUG=WARN ./all_reduce_perf
setenv NCCL_PROTO LL|setenv NCCL_PROTO Simple
# NCCL_PROTO=LL|# NCCL_PROTO=Simple
END
$ settings <logs
{ echo '$ NCCL_NVLS_ENABLE=0 ./all_reduce_perf' && body; } >nvls.txt
$ import nvls.txt && grep -ho '"NCCL_NVLS_ENABLE":"[^"]*"' raw/*/*/*/*.jsonl | uniq -c
# OSU: tables of osu_allreduce alone, also behind blanks, times and without '#'.
osu() { import --platform p --set ranks="$2" "$1" && what workload launches median_s && sed -n '/left out/p' err; }
sed 's/NCCL-CUDA/RCCL-ROCM/' $cases/osu_nccl/xccl.txt >rccl.txt
sed 's/^0: /   /' $cases/osu_prefix/srun_l.txt >blank.txt
sed 's/^0: # */ /; s/^0: //' $cases/osu_prefix/srun_l.txt >eaten.txt
sed 's/^0: /2026-03-04T05:06:07.5Z [1,0]<stdout>: /' $cases/osu_prefix/srun_l.txt >time.txt
{ echo '$ mpirun --mca coll_tuned_allreduce_algorithm 3 ./osu_allreduce' && cat blank.txt
    echo '$ mpirun --mca coll_tuned_allreduce_algorithm 4 ./osu_allreduce' && cat blank.txt; } >mca.txt
$ osu $cases/osu_nccl/xccl.txt 2
$ osu rccl.txt 2
$ osu $cases/osu_suite_log/suite.out 4
$ for f in $cases/osu_prefix/srun_l.txt blank.txt eaten.txt time.txt; do osu $f 4; done
$ import --platform p --set ranks=4 mca.txt && what config
