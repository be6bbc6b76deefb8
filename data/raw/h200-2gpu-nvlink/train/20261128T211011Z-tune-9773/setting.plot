platform = "h200-2gpu-nvlink"
ranks = 2
nodes = 1
base = 0.083663704
rows = 3
share = 0.0898261047
share_lo = 0.0872312522
share_hi = 0.0917877291
name[1] = "the job as it is"
name[2] = "NCCL_MIN_CTAS=32"
name[3] = "NCCL_MAX_CTAS=8"
$bars << EOD
1 0.083663704 0.083663704 0.083663704 0
2 0.0833919163 0.0830707047 0.0837143699 0
3 0.0857703758 0.0853256819 0.0862173872 0
EOD
