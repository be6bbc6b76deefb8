# SPDX-License-Identifier: Apache-2.0
#
# A panel of wan.csv; `name` says which:
#   sync_size, sync_size_slow   time against size at the highest and the lowest rate recorded
#   sync_rtt, sync_rtt_small    time against RTT, of the largest size that every RTT has at the highest
#                               rate, and of the smallest one at the lowest
#   every                       efficiency against H by what is on the wire: measured, and the model's line
#   modelled                    measured over modelled time, a row a network
# The first four are of links without disturbances, of synchronisations alone over tcp beside MPI's own, in fp32, of the network with
# the RTT in the middle and the least loss, for which there are sizes, and of as many ranks at as many
# sites as most cells are. All sites have the same rate: one rate names the network. A line has two points
# or more; without any line the panel has `n = 0`, and nothing is drawn. Of a cell that was recorded again the last recording counts. After csv.awk.

NR == 1 { header(); next }
{
    csv($0, f)
    cell = wan_cell()
    if (!(cell in row_of)) row_of[cell] = ++count
    rows = row_of[cell]
    platform[rows] = get("platform"); strategy[rows] = get("strategy"); transport[rows] = get("transport")
    config[rows] = get("config"); wire[rows] = get("wire"); size[rows] = num("size_B") + 0; every[rows] = num("every") + 0
    rate[rows] = num("rate_Bps") + 0; rtt[rows] = num("rtt_s") + 0; loss[rows] = num("loss") + 0
    sync[rows] = num("sync_s")
    low[rows] = bound("sync_ci_low_s", sync[rows]); high[rows] = bound("sync_ci_high_s", sync[rows])
    model[rows] = num("model_sync_s"); bound_s[rows] = num("bound_s"); trains[rows] = get("step_s") != ""
    efficiency[rows] = num("efficiency"); model_efficiency[rows] = num("model_efficiency")
    sites[rows] = num("sites"); shape[rows] = num("ranks") " at " sites[rows]; special[rows] = config[rows] ~ /=/ && config[rows] !~ /^strategy=mpi/
}
END {
    stop_if_stopped()
    rows = count
    for (i = 1; i <= rows; i++) if (++cells_of[shape[i]] > cells_of[common]) common = shape[i]
    if (name ~ /^sync/) synchronisations()
    else if (name == "every") trainings()
    else scatter()
}

function label_of(i,    s) {
    s = strategy[i]
    gsub(/_/, " ", s)
    return s == "mpi" ? "MPI_Allreduce" : s
}
# The bound of sites with equal rates has the bytes of a ring; faster sites beside the slowest lower it.
function equal_rates(i) {
    return (bound_s[i] - rtt[i] / 2) * rate[i] >= 0.999 * 2 * (sites[i] - 1) / sites[i] * size[i]
}
function plain(i) {
    return equal_rates(i) && shape[i] == common && platform[i] !~ /-internet/ && !trains[i] && wire[i] == "fp32" && rate[i] > 0 && !special[i] && (strategy[i] == "mpi" || transport[i] == "tcp")
}
function network(r) { return sprintf("%.4g Mbit/s", r * 8e-6) }
function milliseconds(s) { return sprintf("%.4g ms", s * 1e3) }
function human(b) { return b >= 2^20 ? sprintf("%g MiB", b / 2^20) : b >= 2^10 ? sprintf("%g KiB", b / 2^10) : b " B" }

# The extreme value of an array among the rows that `plain` and, if given, the rate lets through.
function extreme(values, want_high, r,    i, best, any) {
    for (i = 1; i <= rows; i++)
        if (plain(i) && (r == "" || rate[i] == r) && (!any++ || (want_high ? values[i] > best : values[i] < best)))
            best = values[i]
    return best
}
# The RTT in the middle of those that were recorded at a rate.
function middle_rtt(r,    i, n, list, seen, j, t) {
    for (i = 1; i <= rows; i++)
        if (plain(i) && rate[i] == r && !(rtt[i] in seen)) { seen[rtt[i]]; list[++n] = rtt[i] }
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    return list[int((n + 1) / 2)]
}

# The least loss under which more than one size was recorded.
function least_loss(r, t,    i, sizes, seen, l, best) {
    for (i = 1; i <= rows; i++)
        if (plain(i) && rate[i] == r && rtt[i] == t && !((loss[i], size[i]) in seen)) { seen[loss[i], size[i]]; sizes[loss[i]]++ }
    for (l in sizes)
        if (sizes[l] > 1 && (best == "" || l + 0 < best)) best = l + 0
    return best == "" ? extreme(loss, 0, r) : best
}

function add(key, x, y, lo, hi) {
    if (!(key in at)) { at[key] = ++n; label[n] = key }
    if ((key, x) in seen_point) return
    seen_point[key, x]
    point[at[key], ++points[at[key]]] = x " " y " " lo " " hi
    xs[at[key], points[at[key]]] = x
}
# Leaves only the lines with two points or more.
function leave_out_points(    i, j, k) {
    for (i = 1; i <= n; i++) {
        if (points[i] < 2) continue
        k++
        label[k] = label[i]; points[k] = points[i]; at[label[k]] = k
        for (j = 1; j <= points[i]; j++) { point[k, j] = point[i, j]; xs[k, j] = xs[i, j] }
    }
    for (i = k + 1; i <= n; i++) points[i] = 0
    n = k + 0
}
# Blocks of x, value, low, high; by x, so that lines join neighbours.
function lines_out(    i, j, k, t) {
    for (i = 1; i <= n; i++) {
        for (j = 2; j <= points[i]; j++)
            for (k = j; k > 1 && xs[i, k] < xs[i, k - 1]; k--) {
                t = xs[i, k]; xs[i, k] = xs[i, k - 1]; xs[i, k - 1] = t
                t = point[i, k]; point[i, k] = point[i, k - 1]; point[i, k - 1] = t
            }
        if (i == 1) print "$curve << EOD"
        for (j = 1; j <= points[i]; j++) print point[i, j]
        print i < n ? "\n" : "EOD"
    }
}
function head(title, detail,    i, list) {
    printf "title_of = %s\ndetail = %s\nplatform = \"\"\nworkload = \"\"\nmore = \"\"\nn = %d\n", quote(title), quote(detail), n
    for (i = 1; i <= n; i++) list = list ", " quote(label[i])
    if (n) printf "array label[%d] = [%s]\n", n, substr(list, 3)
}

function synchronisations(    i, r, l, t, s, by_rtt, many, x) {
    by_rtt = name ~ /rtt/
    r = extreme(rate, name !~ /slow|small/)
    t = middle_rtt(r)
    l = by_rtt ? extreme(loss, 0, r) : least_loss(r, t)
    if (by_rtt) s = common_size(r, l, name != "sync_rtt_small")
    for (i = 1; i <= rows; i++) {
        if (!plain(i) || rate[i] != r || loss[i] != l || (by_rtt ? size[i] != s : rtt[i] != t))
            continue
        x = by_rtt ? rtt[i] * 1e3 : size[i]
        add(label_of(i), x, sync[i], low[i], high[i])
        bounds[x] = bound_s[i]
        many = sites[i]
    }
    leave_out_points()
    for (x in bounds) if (n) add("lower bound", x + 0, bounds[x], bounds[x], bounds[x])
    head("time of one synchronisation", sprintf("%d sites, %s%s, %s", many, network(r), l ? sprintf(", %g%% loss", 100 * l) : "", \
        by_rtt ? human(s) : "RTT " milliseconds(t)))
    printf "by_rtt = %d\n", by_rtt
    lines_out()
}
# The largest or smallest size that every RTT has.
function common_size(r, l, want_high,    i, rtts, of, at_size, best, s) {
    for (i = 1; i <= rows; i++)
        if (plain(i) && rate[i] == r && loss[i] == l) {
            if (!((0, rtt[i]) in of)) { of[0, rtt[i]]; rtts++ }
            if (!((size[i], rtt[i]) in of)) { of[size[i], rtt[i]]; at_size[size[i]]++ }
        }
    for (s in at_size)
        if (at_size[s] == rtts && (best == "" || (want_high ? s + 0 > best : s + 0 < best)))
            best = s + 0
    return best
}

function trainings(    i, l) {
    for (i = 1; i <= rows; i++)
        if (trains[i] && !special[i] && model_efficiency[i] != "") {
            add(wire[i], every[i], 100 * efficiency[i], 100 * model_efficiency[i], 0)
            l = sprintf("%s: %s, %d sites, %s, RTT %s, %s", platform[i], label_of(i), sites[i], network(rate[i]), milliseconds(rtt[i]), human(size[i]))
        }
    head("how often to synchronise: points measured, lines modelled", l)
    lines_out()
}

# A row a network, a point a cell that the model speaks of; its error is that of the model, of the time
# measured.
function scatter(    i, k, key, n_networks, networks, of, cells, worst, list, note) {
    for (i = 1; i <= rows; i++) {
        if (model[i] == "" || sync[i] == "") continue
        key = platform[i]
        sub(/^.*wan-lab-/, "", key)
        if (!(key in of)) { of[key] = ++n_networks; networks[n_networks] = key }
        k = of[key]
        errors[k, ++cells[k]] = magnitude(model[i] / sync[i] - 1)
        worst[k] = errors[k, cells[k]] > worst[k] ? errors[k, cells[k]] : worst[k]
        add(wire[i] == "fp32" ? label_of(i) : "int8, int4, bf16", k, sync[i] / model[i], 0, 0)
        delete seen_point
    }
    for (k = 1; k <= n_networks; k++) {
        list = list ", " quote(networks[k])
        note = note ", " quote(sprintf("%.1f%%, %.0f%%", 100 * median(k, cells[k]), 100 * worst[k]))
    }
    head("one synchronisation: measured over modelled, by network", "bands: the model within 5, 10 and 15% of the time measured")
    printf "rows = %d\narray network[%d] = [%s]\narray note[%d] = [%s]\n", n_networks, n_networks, substr(list, 3), n_networks, substr(note, 3)
    lines_out()
}
function magnitude(x) { return x < 0 ? -x : x }
function median(k, n,    i, j, t) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && errors[k, j] < errors[k, j - 1]; j--) { t = errors[k, j]; errors[k, j] = errors[k, j - 1]; errors[k, j - 1] = t }
    return n % 2 ? errors[k, (n + 1) / 2] : (errors[k, n / 2] + errors[k, n / 2 + 1]) / 2
}
