platform = "h200-2gpu-nvlink"
ranks = 2
nodes = 1
base = 0.0373255977
rows = 3
share = 0.0270547319
share_lo = -0.163671944
share_hi = 0.123648441
name[1] = "the job as it is"
name[2] = "NCCL_MIN_CTAS=32"
name[3] = "NCCL_MAX_CTAS=8"
$bars << EOD
1 0.0373255977 0.0373255977 0.0373255977 0
2 0.0372694284 0.0324286067 0.0428328699 0
3 0.0383241347 0.0338531183 0.0433856428 0
EOD
