# SPDX-License-Identifier: Apache-2.0
#
# Features of the curves of a panel, from transitions.csv, for panels.awk: marks on every curve, and words
# on one curve (auto, if there is such a config). Changes of only the number of CTAs are too many to draw.
# Features that replicates did not confirm are not drawn. With a single replicate nothing is confirmed:
# features of one curve are then drawn with a question mark.

function feature_row(    key, kind) {
    csv($0, f)
    kind = get("kind")
    if (get("platform") "/" get("workload") != of || kind ~ /^(fit|refused|CTAs)$/ || get("verdict") == "not confirmed")
        return
    key = get("label") SUBSEP get("mode") SUBSEP get("config") SUBSEP get("params") SUBSEP num("ranks") SUBSEP num("nodes")
    f_n[key]++
    f_kind[key, f_n[key]] = kind
    f_size[key, f_n[key]] = num("size_B") + 0
    f_from[key, f_n[key]] = num("from_B") + 0
    f_to[key, f_n[key]] = num("to_B") + 0
    f_change[key, f_n[key]] = num("change")
    f_open[key, f_n[key]] = get("verdict") == "unconfirmed"
    f_ran[key, f_n[key]] = kind == "switch" ? kernel_after(get("reason")) : ""
}

# "RING/LL ctas=24 to RING/LL128 ctas=24" gives LL128; if the algorithm changes too, RING/LL128.
function kernel_after(reason,    side, from, to) {
    if (split(reason, side, " to ") != 2)
        return ""
    sub(/ .*/, "", side[1]); sub(/ .*/, "", side[2])
    split(side[1], from, "/"); split(side[2], to, "/")
    return from[1] == to[1] && to[2] != "" ? to[2] : side[2]
}

# The parameters as in transitions.csv: without the x axis of a curve.
function params_of_curve(text,    n, i, word, out) {
    n = split(text, word, " ")
    for (i = 1; i <= n; i++)
        if (word[i] !~ /^(size|config)=/)
            out = out (out == "" ? "" : " ") word[i]
    return out
}

function words_of(kind, size, change, open, ran,    text) {
    if (kind == "spike") text = sprintf("spike ×%.2g", 1 + change)
    else if (kind ~ /^(dip|fall)$/) text = sprintf("%s %.0f%%", kind, 100 * change)
    else if (kind == "first row") text = "warm-up"
    else if (kind == "switch") text = ran == "" ? "switch" : "to " ran
    else if (kind == "kink") text = "kink"
    else text = "half of peak " short_bytes(size)
    return text (open ? "?" : "")
}

function short_bytes(b) {
    if (b >= 1073741824) return sprintf("%.3g GiB", b / 1073741824)
    if (b >= 1048576) return sprintf("%.3g MiB", b / 1048576)
    if (b >= 1024) return sprintf("%.3g KiB", b / 1024)
    return b " B"
}

# The value of a series at a size between two measured ones: on the line drawn.
function on_line(p, s, value, size, from, to,    a, b) {
    if (!((p, s, from) in at) || !((p, s, to) in at))
        return "NaN"
    a = value[at[p, s, from]]; b = value[at[p, s, to]]
    if (!(a > 0 && b > 0))
        return "NaN"
    return from == to ? a : exp(log(a) + log(b / a) * log(size / from) / log(to / from))
}

# The datablock $marks: size, time, busbw, kind (1 switch, 2 knee, 3 dip, 4 spike, 5 warm-up, 6 kink),
# words, and whether it is the curve of the words. Figures of ratios mark that curve alone.
# worded and worded_of_ratios count the rows with words that a figure shows: gnuplot before 6 crashes when
# it draws lines or words of which none is defined.
function worded(p,    s) {
    for (s = 1; s <= n_series[p]; s++)
        if (series_name[p, s] == "auto")
            return s
    return 1
}

function write_features(p, file,    mine, s, i, key, k, code, from, to, time, n_marks, n_worded, n_of_ratios) {
    code["switch"] = 1; code["kink"] = 6; code["knee"] = 2; code["dip"] = code["fall"] = 3; code["spike"] = 4; code["first row"] = 5
    mine = worded(p)
    print "$marks << EOD" > file
    for (s = 1; s <= n_series[p]; s++) {
        i = at[p, s, sizes[p, s, 1]]
        key = label[i] SUBSEP mode[i] SUBSEP config[i] SUBSEP params_of_curve(params[i]) SUBSEP ranks[i] SUBSEP nodes[i]
        for (k = 1; k <= f_n[key]; k++) {
            from = f_kind[key, k] ~ /^(dip|fall|spike|first row)$/ ? f_size[key, k] : f_from[key, k]
            to = f_kind[key, k] ~ /^(dip|fall|spike|first row)$/ ? f_size[key, k] : f_to[key, k]
            if (s != mine && (f_open[key, k] || f_kind[key, k] == "knee"))
                continue
            n_marks++
            time = on_line(p, s, y, f_size[key, k], from, to)
            if (s == mine && time != "NaN") {
                n_worded++
                n_of_ratios += code[f_kind[key, k]] > 2
            }
            print f_size[key, k], time,
                on_line(p, s, busbw, f_size[key, k], from, to), code[f_kind[key, k]],
                (s != mine ? datum("") : datum(words_of(f_kind[key, k], f_size[key, k], f_change[key, k], f_open[key, k], f_ran[key, k]))), (s == mine) > file
        }
    }
    printf "EOD\nmarks = %d\nworded = %d\nworded_of_ratios = %d\n", n_marks, n_worded, n_of_ratios > file
}
