# Claims, published and measured, become limits.csv. First what the project's own configs claim.
claims=$(printf '%s\n' $top/configs/{a100-8gpu,h100-2x8,l40s-{2,4}gpu,wan-4site}.ini)
$ gradsync limits -o all $claims
judged() { csv $1/limits.csv 1 platform kind claim quantity value limit fraction physics verdict; }
$ head -n 1 all/limits.csv && judged all
$ gradsync limits -q -o quiet $claims && cmp all/limits.csv quiet/limits.csv
# Measured numbers: each cell with a bandwidth, against the limit of its platform.
mkdir csv
columns=run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,n,launches
columns+=,blocks,warmup_blocks,median_s,ci_low_s,ci_high_s,p95_s,p99_s,min_s,algbw_Bps,busbw_Bps
columns+=,limit_Bps,limit_fraction,skew_s,converged,status,reason
printf '%s\n' '[limits]' 'busbw = 10GB/s' 'source = a sheet' '[reference]' 'link = 11GB/s' >p.ini
{ echo $columns && cat; } >csv/summary.csv <<'END'
r,p,null,,c1,a,,2,1,1000,x=1,9,2,9,0,2e-7,2e-7,2e-7,2e-7,2e-7,2e-7,5e9,5e9,10e9,0.5,0,yes,ok,
r,p,null,,c2,b,,2,1,1000,x=1,9,2,9,0,1e-7,1e-7,1e-7,1e-7,1e-7,1e-7,10e9,10e9,10e9,1,0,yes,ok,
r,p,null,,c3,c,,2,1,1000,x=1,9,2,9,0,5e-8,5e-8,5e-8,5e-8,5e-8,5e-8,20e9,20e9,10e9,2,0,yes,ok,
r,p,null,,c4,d,,2,1,1000,x=1,,,,,,,,,,,,,,,,no,skip,"no, ""d"""
r,q,null,,c5,a,,2,1,1000,x=1,9,2,9,0,2e-7,2e-7,2e-7,2e-7,2e-7,2e-7,5e9,5e9,,,0,yes,ok,
END
$ gradsync limits -o csv p.ini && judged csv
$ gradsync limits
# An algorithm that is not stated may be reduction in the switch, unless the config has that off.
printf '%s\n' '[platform]' 'device = Example GPU 40GB' '[launch]' 'ranks = 8' '[limits]' 'busbw = 300GB/s' 'link = 300GB/s' 'source = a data sheet' >h.ini
mkdir auto ring off nvls-off
{ echo $columns && cat; } >auto/summary.csv <<'END'
r,h,nccl_allreduce,,c1,unstated,,8,1,1073741824,size=1GiB,9,2,9,0,5.9e-3,,,,,,181.99e9,318.48e9,300e9,1.06,0,yes,ok,
r,h,nccl_allreduce,,c2,unstated,,8,1,1073741824,size=1GiB,9,2,9,0,3.5e-3,,,,,,306.8e9,536.87e9,300e9,1.79,0,yes,ok,
END
cp auto/summary.csv off && sed 's/size=1GiB/algorithm=ring/' auto/summary.csv >ring/summary.csv
sed 's/ranks = 8/&\nargs = -x NCCL_NVLS_ENABLE=0/' h.ini >nvls-off/h.ini
verdicts() { gradsync limits -q -o $1 $2 && csv $1/limits.csv 'get("kind") == "measured"' verdict; }
$ verdicts auto h.ini
$ verdicts ring h.ini
$ verdicts off nvls-off/h.ini
# Limits of one config is for reading: the table of all recordings stays.
mkdir -p data/csv && echo kept >data/csv/limits.csv
$ gradsync limits p.ini
$ ls data/csv && cat data/csv/limits.csv
