# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For benchmarks that need idle processors. Sourced; call both while nothing of the benchmark runs.

busy() { # how many processes of others run, the most of five looks
    local n most=0
    for _ in 1 2 3 4 5; do
        n=$(($(sed 's,.* \([0-9]*\)/.*,\1,' /proc/loadavg) - 1))
        [ "$n" -le "$most" ] || most=$n
        sleep 0.1
    done
    echo "$most"
}
quiet() { # waits until nobody else runs, ${WAIT_S:-60} s at most
    local until=$((SECONDS + ${WAIT_S:-60}))
    while [ $SECONDS -lt $until ] && [ "$(busy)" -gt 0 ]; do sleep 2; done
}
load() { # " (load N)" if others use the machine
    [ "$(busy)" -eq 0 ] || echo " (load $(cut -d' ' -f1 /proc/loadavg))"
}
