#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The figures of what varies in levels: iteration time against the number of CTAs, and the time of an
# operation against contention, from tables whose answers are known.
. "$(dirname "$0")/lib.sh"

mkdir -p steps all
head='run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,median_s,ci_low_s,ci_high_s,busbw_Bps,limit_Bps,status'
{
    echo "$head"
    n=0
    for config in auto ctas=16 ctas=2 ctas=8; do
        for mode in sequential overlapped; do
            n=$((n + 1))
            echo "r,p,iter_proxy,,c$n,$config,$mode,4,1,1048576,size=1MiB gemms=1 mode=$mode,$n.5e-4,$n.4e-4,$n.6e-4,,,ok"
        done
    done
} >steps/summary.csv
{
    echo 'run_id,platform,workload,label,config,ranks,nodes,size_B,params,compute_s,comm_s,sequential_s,overlapped_s,overlapped_ci_low_s,overlapped_ci_high_s,exposed_s,hidden_s'
    for config in auto ctas=16 ctas=2 ctas=8; do
        echo "r,p,iter_proxy,,$config,4,1,1048576,size=1MiB gemms=1 mode=overlapped,1e-4,2e-4,3e-4,2.5e-4,2.4e-4,2.6e-4,1.5e-4,0.5e-4"
    done
} >steps/iteration.csv
echo 'run_id,cell_id,copy,time_s' >steps/samples.csv
ok 'panels of a training step' env -C "$top" bash figures/panels "$tmp/out" p/iter_proxy "$tmp/steps"
plot=$tmp/out/iter_proxy-size-1MiB-by.plot
is "$(sed -n '/^\$level/,/^EOD/p' "$plot")" '$level << EOD
2 5.5e-4 5.4e-4 5.6e-4
8 7.5e-4 7.4e-4 7.6e-4
16 3.5e-4 3.4e-4 3.6e-4


2 6.5e-4 6.4e-4 6.6e-4
8 8.5e-4 8.4e-4 8.6e-4
16 4.5e-4 4.4e-4 4.6e-4
EOD' 'CTAs in order, one after the other, then overlapped'
is "$(grep -E '^(compute|array across)' "$plot")" 'compute = 1e-4
array across[2] = [1.5e-4, 2.5e-4]' "compute alone and NCCL's own choice go across"
ok 'which make is to draw' grep -q 'figure,ctas,p/iter_proxy,p/iter_proxy-size-1MiB-by)' "$tmp/out/figures.mk"

{
    echo "$head"
    for config in auto ring/LL; do
        for contention in none high low; do
            n=$((n + 1))
            echo "r,p,nccl_allreduce,,c$n,$config,,4,1,8,size=8 contention=$contention,$n.5e-6,$n.4e-6,$n.6e-6,1e9,2e9,ok"
        done
    done
} >all/summary.csv
echo 'run_id,cell_id,copy,time_s' >all/samples.csv
ok 'panels of an all-reduce beside contention' env -C "$top" bash figures/panels "$tmp/out2" p/nccl_allreduce "$tmp/all"
plot2=$tmp/out2/nccl_allreduce-size-8B-by.plot
is "$(sed -n '/^\$level/,/^EOD/p' "$plot2")" '$level << EOD
1 9.5e-6 9.4e-6 9.6e-6
2 11.5e-6 11.4e-6 11.6e-6
4 10.5e-6 10.4e-6 10.6e-6


1 12.5e-6 12.4e-6 12.6e-6
2 14.5e-6 14.4e-6 14.6e-6
4 13.5e-6 13.4e-6 13.6e-6
EOD' 'from none to high, a curve a config; a level that nobody measured is left out'
ok 'drawn: CTAs' "$top/figures/draw" ctas "$plot" "$tmp/ctas"
ok 'drawn: contention' "$top/figures/draw" contention "$plot2" "$tmp/contention"
grep -v 'ctas=8' steps/summary.csv >less && mv less steps/summary.csv
grep -v 'ctas=8' steps/iteration.csv >less && mv less steps/iteration.csv
ok 'two numbers of CTAs' env -C "$top" bash figures/panels "$tmp/out3" p/iter_proxy "$tmp/steps"
is "$(find "$tmp/out3" -name '*-by.plot')" '' 'make no curve'
done_testing
