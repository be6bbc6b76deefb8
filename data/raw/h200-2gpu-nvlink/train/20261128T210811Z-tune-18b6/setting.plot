platform = "h200-2gpu-nvlink"
ranks = 2
nodes = 1
base = 0.033722908
rows = 3
share = -0.0254918364
share_lo = -0.197516411
share_hi = 0.121821215
name[1] = "the job as it is"
name[2] = "NCCL_MIN_CTAS=32"
name[3] = "NCCL_MAX_CTAS=8"
$bars << EOD
1 0.033722908 0.033722908 0.033722908 0
2 0.0334947631 0.0316281448 0.0354715448 0
3 0.0344816856 0.0224033907 0.0530717272 0
EOD
