platform = "h100-2gpu-host"
ranks = 2
nodes = 1
base = 0.0893635621
rows = 3
share = NaN
array name[3]
name[1] = "the job as it is"
name[2] = "reshard_after_forward=0"
name[3] = "prefetch=2"
$bars << EOD
1 0.0893635621 0.0893635621 0.0893635621 0
2 0.0851306745 0.0846031385 0.0859421599 1
3 0.0895581316 0.0860543999 0.0932045188 0
EOD
