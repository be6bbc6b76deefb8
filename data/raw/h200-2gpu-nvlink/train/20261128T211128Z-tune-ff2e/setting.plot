platform = "h200-2gpu-nvlink"
ranks = 2
nodes = 1
base = 0.0365355719
rows = 3
share = NaN
name[1] = "the job as it is"
name[2] = "NCCL_MAX_CTAS=8"
name[3] = "NCCL_MIN_CTAS=32"
$bars << EOD
1 0.0365355719 0.0365355719 0.0365355719 0
2 0.0347267411 0.0324908422 0.0371165062 0
3 0.0385307447 0.0355042073 0.0418152778 0
EOD
