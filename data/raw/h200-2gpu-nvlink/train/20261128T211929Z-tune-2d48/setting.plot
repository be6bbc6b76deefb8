platform = "h200-2gpu-nvlink"
ranks = 2
nodes = 1
base = 0.0411194698
rows = 3
share = 0.0467826596
share_lo = -0.0333787708
share_hi = 0.0756775239
name[1] = "the job as it is"
name[2] = "NCCL of /tmp/libnccl-2.30.7.so"
name[3] = "NCCL of /usr/lib/x86_64-linux-gnu/libnccl.so.2"
$bars << EOD
1 0.0411194698 0.0411194698 0.0411194698 0
2 0.0403770838 0.0395052097 0.0412682001 0
3 0.0431650601 0.0396883678 0.0469463098 0
EOD
