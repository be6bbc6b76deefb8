# SPDX-License-Identifier: Apache-2.0
#
# The error of the model as a share of the measured time, for the synchronisations of wan.csv: a row for
# each network, and one each for all networks without and with loss. Of a cell that was recorded again
# the last recording counts. `spread` is half of the interval of the measured time, and `beyond` how far
# the model lies outside of it: no model is better than the recording. After csv.awk.

NR == 1 { header(); next }
{
    csv($0, f)
    if (num("model_sync_s") == "" || num("sync_s") == "") next
    key = wan_cell()
    if (!(key in last)) keys[++n_keys] = key
    last[key] = $0
}
END {
    stop_if_stopped()
    for (i = 1; i <= n_keys; i++) {
        csv(last[keys[i]], f)
        error = num("model_sync_s") / num("sync_s") - 1
        spread = (num("sync_ci_high_s") - num("sync_ci_low_s")) / num("sync_s") / 2
        outside = num("model_sync_s") < num("sync_ci_low_s") ? num("sync_ci_low_s") - num("model_sync_s") : \
            num("model_sync_s") - num("sync_ci_high_s")
        take(get("platform"), num("loss") + 0)
        take(num("loss") + 0 > 0 ? "all with loss" : "all without loss", "")
    }
    print "network,loss,cells,median_error,worst_error,median_spread,spread_at_worst,worst_beyond,worst_config,worst_size_B"
    for (k = 1; k <= n; k++) if (names[k] !~ /^all /) row(k)
    for (k = 1; k <= n; k++) if (names[k] ~ /^all /) row(k)
}
function take(name, loss,    k, e) {
    if (!(name in at)) { at[name] = ++n; names[n] = name; losses[n] = loss }
    k = at[name]
    e = error < 0 ? -error : error
    errors[k, ++cells[k]] = e
    spreads[k, cells[k]] = spread
    if (outside / num("sync_s") > beyond[k]) beyond[k] = outside / num("sync_s")
    if (cells[k] == 1 || e > worst[k]) { worst[k] = e; wide[k] = spread; config[k] = get("config"); size[k] = num("size_B") }
}
function median(x, k, n,    i, j, t) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && x[k, j] < x[k, j - 1]; j--) { t = x[k, j]; x[k, j] = x[k, j - 1]; x[k, j - 1] = t }
    return n % 2 ? x[k, (n + 1) / 2] : (x[k, n / 2] + x[k, n / 2 + 1]) / 2
}
function row(k) {
    printf "%s,%s,%d,%.6f,%.6f,%.6f,%.6f,%.6f,%s,%s\n", names[k], losses[k], cells[k], median(errors, k, cells[k]), worst[k],
        median(spreads, k, cells[k]), wide[k], beyond[k], config[k] ~ /[",]/ ? quoted(config[k]) : config[k], size[k]
}
function quoted(text) { gsub(/"/, "\"\"", text); return "\"" text "\"" }
