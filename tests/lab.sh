# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Labs for tests, used beside lib.sh: three sites north, east and south, with a rank at each.
#   lab_config RATE RTT [LINE…]  writes lab.ini; the lines go on with [links] and more sections.
#   lab [OPTION…] -- COMMAND…    in it, LAB_SECONDS at most
#   need_lab                     after `run lab …`: ends the test, with the reason, where no lab
#                                can be had. On a machine that is too busy for one, it fails
#   sent SITE                    inside a lab: bytes that this site has sent
#   until_sends SITE BYTES       inside a lab: waits until it has sent so many more
#   recorded TYPE                inside a lab: lines of that type in data/; notes, by their key
#   until_recorded TYPE N        inside a lab: waits for N more, or for the end of $runner
#   lab_set COMMAND              inside a lab: gradsync lab set, again while the lab is too busy
#   set_links down|up LINK…      inside a lab: a site is cut off by all its links; by itself MPI's
#                                network is cut too
LAB_SECONDS=${LAB_SECONDS:-300} # enough for a busy machine
export gradsync build # for what runs inside
sent() {
    "$gradsync" lab enter "$1" -- awk '/:/ && !/lo:/ { n += $10 } END { print n + 0 }' /proc/net/dev
}
has_sent() { [ "$(sent "$1")" -ge "$2" ]; }
until_sends() { until_true 120 has_sent "$1" $(($(sent "$1") + $2)); }
recorded() { cat data/*/*/*/launch-*.jsonl 2>/dev/null | grep -c ":\"$1\""; }
# shellcheck disable=SC2154 # $runner is that of the script inside
has_recorded() { [ "$(recorded "$1")" -ge "$2" ] || ! kill -0 "$runner" 2>/dev/null; }
until_recorded() {
    until_true 200 has_recorded "$1" $(($(recorded "$1") + $2)) && return
    echo "no $2 more $1" >&2
    exit 1
}
lab_set() { until_true 60 "$gradsync" lab set "$1" >/dev/null || exit 1; }
set_links() { for link in "${@:2}"; do lab_set "$1 $link"; done; }
export -f until_true sent has_sent until_sends recorded has_recorded until_recorded lab_set
export -f set_links

lab_config() {
    cat >lab.ini <<'END'
[platform]
name = lab
[sites]
north = gpus=1
east = gpus=1
south = gpus=1
[launch]
ranks = 3
nodes = 3
hosts = north, east, south
bind = none
[measure]
launches = 1
blocks = 1
max_blocks = 1
samples = 1
budget = 60s
discard = 0
warmup = 0
warmup_ops = 1
retries = 0
deadline = 60s
seed = 5
[links]
END
    printf '%s\n' "rate = $1" "rtt = $2" "${@:3}" >>lab.ini
}

# shellcheck disable=SC2154 # lib.sh's
lab() { timeout "$LAB_SECONDS" "$gradsync" lab -q lab.ini "$@"; }

# shellcheck disable=SC2154 # lib.sh's
need_lab() {
    [ "$rc" = 3 ] || return 0
    [[ $err == *'too busy'* ]] || skip_all "no lab on this machine: $err"
    flunk 'the lab starts' "$err"
    done_testing
    exit
}
