platform = "h100-2gpu-sock"
ranks = 2
nodes = 1
base = 0.157328909
rows = 3
share = 0.780844559
share_lo = 0.769562909
share_hi = 0.794556639
$share_of << EOD
0 0.0396649273
0.5 0.107803276
1 0.180989928
EOD
array name[3]
name[1] = "the job as it is"
name[2] = "without NCCL_P2P_DISABLE"
name[3] = "without NCCL_SHM_DISABLE"
$bars << EOD
1 0.157328909 0.157328909 0.157328909 0
2 0.0387462685 0.0342518113 0.0452425917 1
3 0.048043195 0.0439075957 0.052568321 0
EOD
