# The four-site plan: its answer, and what its claims come to.
plan=$top/configs/wan-4site.ini
$ gradsync model $plan
$ gradsync check $plan
$ gradsync check $plan --set model:claim.time=80d..90d --set model:claim.efficiency=9% 2>&1 | grep -c warning
$ gradsync model $plan --set links:okstate-sdsc=rate=100Mbit/s | grep slowest
$ gradsync model $plan --set links:rate=100Gbit/s | grep sync_time
$ gradsync help links
