# What gradsync model --plan chooses for links: the strategy, the wire
# and how often.
links() { # LINE…: four sites with these links, and a training
    printf '%s\n' '[sites]' 'north = gpus=1' 'east = gpus=1' 'south = gpus=1' 'west = gpus=1' '[links]' \
        'rate = 100Mbit/s' 'rtt = 10ms' "$@" '[model]' 'parameters = 16.777216e6' 'tokens = 8192' 'bits = 8' \
        "compute = ${compute:-1s}"
}
links >equal.ini
compute=100s links >long.ini
compute=100ms links >short.ini
links 'north-east = rate=20Mbit/s' >slow.ini
links 'congestion = bbr' 'rtt = 200ms' 'streams = 16' | sed '/^rtt = 10ms/d' >far.ini
sed '/^[esw][a-z]* = gpus/d; /^north-/d' slow.ini >one.ini
{ links 'windwo = 3MiB' && printf '%s\n' '[launch]' 'ranks = 4' 'oversubscribe = yes' '[mpi_allreduce]' 'size = 64KiB'; } >typo.ini
$ gradsync model --plan slow.ini
$ gradsync model --plan equal.ini
$ gradsync model --plan equal.ini --set links:loss=1% --set links:streams=4
$ gradsync model --plan long.ini
# Each fragment has a step of its own.
$ gradsync model --plan short.ini
$ gradsync model --plan short.ini --set model:straggle=50ms
$ gradsync model --plan far.ini
# Data parallelism with the backward pass needs every = 15 to 181 here.
$ gradsync model --plan $top/configs/wan-4site.ini
$ gradsync model --plan one.ini
$ gradsync model --plan slow.ini --csv plan.csv
$ gradsync plan typo.ini
