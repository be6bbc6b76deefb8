#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tcp transport over lines that change while it sends: it goes on when they become slow or stand
# still for a while, and ends when one is cut (test_wan_cut.sh: who is named).
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

lab_config 100Mbit/s 10ms

# Waits for the first iteration of the driver, whose lines go to a file, and then orders.
cat >while_it_sends <<END
#!/usr/bin/env bash
# LINES KEY=VALUE… [-- ORDER…]
lines=\$1 keys=()
shift
while [ \$# -gt 0 ] && [ "\$1" != -- ]; do keys+=("\$1") && shift; done
timeout 120 mpirun -n 3 --host north,east,south --bind-to none '$build/bench/wan_link' \\
    rate=100 rtt=10 block=65536 size=786432 probe=0.5 "\${keys[@]}" >"\$lines" 2>"\$lines.err" &
until_true 60 grep -qs bound "\$lines"
for order in "\${@:2}"; do
    case \$order in
    sleep*) \$order ;; # how long a fault lasts
    missed) until_true 60 grep -Eqs 'has not answered|no block moved' "\$lines.err" ;;
    *) '$gradsync' lab set "\$order" ;;
    esac
done
wait \$!
END
chmod +x while_it_sends
cat >all <<'END'
#!/usr/bin/env bash
./while_it_sends tenth iterations=15 -- 'rate east 10Mbit/s' 'sleep 1' reset
echo "tenth $?"
./while_it_sends pause iterations=15 deadline=20 -- 'down east' 'sleep 1' 'up east'
echo "pause $?"
./while_it_sends cut iterations=2000 deadline=2 -- 'down east' missed 'up east'
echo "cut $?"
END
chmod +x all
run lab -- ./all
need_lab
like "$out" 'tenth 0' 'a line that drops to a tenth for a while is no error'
is "$(grep -c bound tenth)" 15 'everything is sent over a line that drops to a tenth'
like "$out" 'pause 0' 'a line that is cut for less than the deadline is no error'
is "$(grep -c bound pause)" 15 'everything is sent over a line that was cut'
like "$out" 'cut [1-9]' 'a line that is cut is an error'
like "$(cat cut.err)" 'rank [0-2]: (rank [0-2] \([a-z]+\) has not answered|no block moved) for 2 s' \
    'the message names a rank'
no_orphans 'no process is left running'
done_testing
