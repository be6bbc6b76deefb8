# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The part `ablate` of wan.sh: what the estimate of the rate and the pacing by it earn. In each
# network the ring runs with them and without, under each congestion control, in the same blocks.
# The difference of the medians has an interval of 95%: the noise that it has to exceed.
#   NETS    Mbit/s:ms:loss:MTU..., default below
#   BLOCKS  7
#   FQ=1    give every site the fq queue, if this kernel has it: a congestion control's own pacing
#           then is that of the queue and not of a timer
# shellcheck disable=SC2154,SC2034 # $tmp $gradsync and others are those of wan.sh
ablate_nets='100:10:0:9000 100:30:0:9000 100:30:0:1500 100:30:0.1%:1500 500:10:0:9000 '\
'500:50:0:9000 1000:10:0:9000 1000:50:0:9000'

# CONFIG OTHER: percent by which OTHER is slower, with its interval of 95% (Hodges and Lehmann over
# all pairs, its interval from the ordered differences)
slower() {
    { column "$1" 2 | sed 's/^/a /'; column "$2" 2 | sed 's/^/b /'; } | awk '
        $1 == "a" { a[++n] = $2 } $1 == "b" { b[++m] = $2 }
        END {
            for (i = 1; i <= n; i++)
                for (k = 1; k <= m; k++)
                    print 100 * (b[k] / a[i] - 1), n, m
        }' | sort -g | awk '
        { d[NR] = $1; n = $2; m = $3 }
        END {
            if (!NR) { print "not measured"; exit }
            c = int(n * m / 2 - 1.96 * sqrt(n * m * (n + m + 1) / 12)); if (c < 1) c = 1
            median = (d[int((NR + 1) / 2)] + d[int(NR / 2) + 1]) / 2
            said = d[c] > 0 ? " earns" : d[NR + 1 - c] < 0 ? " costs" : " noise"
            printf "%+.1f%% [%+.1f, %+.1f]%s", median, d[c], d[NR + 1 - c], said
        }'
}
ablate_network() { # MBIT RTT LOSS MTU
    local cc bound where="$1 Mbit/s, $2 ms, loss $3, MTU $4"
    mtu=$4
    blocks=${BLOCKS:-7} loss=$3 config "$tmp/ablate.ini" "$1" "$2" \
        "size = $(calc 0 "$1 * 167772.16 / 4" | awk '{ print 4 * $1 }')" 'strategy = ring' \
        'congestion = cubic, bbr' 'pacing = yes, no'
    measure "$tmp/ablate.ini" || return 0
    bound=$(physical "$1" "$2" "$(sed -n 's/^size = //p' "$tmp/ablate.ini")")
    for cc in congestion=cubic congestion=bbr; do
        printf '%-44s %-16s %5s%% of the bound, not paced %5s%%: slower by %s\n' "$where" "$cc" \
            "$(calc 1 "100 * $bound / $(median "$cc" 2)")" \
            "$(calc 1 "100 * $bound / $(median "$cc/pacing=no" 2)")" "$(slower "$cc" "$cc/pacing=no")"
    done
}
ablate_all() {
    local net speed rtt loss mtu4
    [ -z "${FQ:-}" ] || before="for site in north east south west; do
        $gradsync lab enter \$site -- tc qdisc replace dev wan0 root fq; done"
    for net in ${NETS:-$ablate_nets}; do
        IFS=: read -r speed rtt loss mtu4 <<<"$net"
        ablate_network "$speed" "$rtt" "$loss" "$mtu4"
    done
}
