platform = "h200-2gpu-nvlink"
ranks = 2
nodes = 1
base = 0.0644855535
rows = 3
share = 0.095594954
share_lo = -0.147259999
share_hi = 0.287041745
name[1] = "the job as it is"
name[2] = "NCCL_MIN_CTAS=32"
name[3] = "NCCL_MAX_CTAS=8"
$bars << EOD
1 0.0644855535 0.0644855535 0.0644855535 0
2 0.0644220409 0.0631783917 0.0656901709 0
3 0.0653629524 0.0630904109 0.0677173517 0
EOD
