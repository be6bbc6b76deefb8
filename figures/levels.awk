# SPDX-License-Identifier: Apache-2.0
#
# Used with panels.awk. Iteration time over compute alone against the number of CTAs, sequential beside
# overlapped; and the time of one operation against contention.

# ---- CTAs

function ctas_of(config) { return config ~ /^ctas=[0-9]+$/ ? substr(config, 6) + 0 : 0 }

function level(x, i) { return x " " median[i] " " low[i] " " high[i] "\n" }

# The time of an iteration in one mode over compute alone, with its interval.
function share(i, want,    j) {
    if (want == "overlapped")
        return D[i] / A[i] " " D_low[i] / A[i] " " D_high[i] / A[i] "\n"
    j = cell_like(i, want)
    return j ? median[j] / A[i] " " low[j] / A[i] " " high[j] / A[i] "\n" : ""
}

# NCCL's own choice of CTAs is a horizontal line, not a point.
function write_ctas(p,    s, i, k, n, number, members_of, first, where, name, file, modes, m, text, auto, of_one) {
    for (s = 1; s <= n_members[p]; s++) {
        i = members[p, s]
        if (A[i] <= 0)
            continue
        if (i_config[i] == "auto")
            auto = i
        if (!(number = ctas_of(i_config[i])))
            continue
        for (k = ++n; k > 1 && ctas_of(i_config[members_of[k - 1]]) > number; k--)
            members_of[k] = members_of[k - 1]
        members_of[k] = i
    }
    if (n < LEVELS_OF_A_CURVE)
        return
    first = members[p, 1]
    where = axes_of(i_params[first], i_ranks[first], i_nodes[first])
    where = "size=" bytes(i_size[first]) (where == "" ? "" : " ") where
    name = name_of(i_workload[first], i_label[first], "", where)
    file = out "/" name "-by.plot"
    begin(file, i_workload[first], say(i_label[first], "", where), i_ranks[first], i_nodes[first])
    split("sequential overlapped", modes, " ")
    for (m = 1; m <= 2; m++) {
        text = text (m > 1 ? "\n\n" : "")
        for (k = 1; k <= n; k++)
            if ((of_one = share(members_of[k], modes[m])) != "")
                text = text ctas_of(i_config[members_of[k]]) " " of_one
        across[m] = auto ? (m == 1 ? C[auto] : D[auto]) / A[auto] : "NaN"
    }
    for (k = 1; k <= n; k++)
        marks[k] = ctas_of(i_config[members_of[k]])
    printf "n = 2\narray label[2] = [\"sequential\", \"overlapped\"]\ncompute = %s\n", A[first] > file
    array(file, "across", 2, across)
    array(file, "mark", n, marks)
    printf "$level << EOD\n%sEOD\n", text > file
    close(file)
    list(name "-by", "ctas")
}

# ---- contention

# One figure for each size, from the panels that differ only in `contention`.
function write_contentions(    p, key, text, words, n, k) {
    if (!("contention" in axis))
        return
    for (p = 1; p <= n_panels; p++) {
        key = label[panel_first[p]] SUBSEP without_contention(p)
        beside[key, contention_of(p)] = p
        if (!(key in levels_of)) {
            levels_of[key] = 0
            keys[++n] = key
        }
        levels_of[key]++
    }
    for (k = 1; k <= n; k++)
        if (levels_of[keys[k]] >= LEVELS_OF_A_CURVE)
            write_contention_sizes(keys[k])
}

function panel_axes(p,    i) {
    i = panel_first[p]
    return axes_of(params[i], ranks[i], nodes[i])
}

function contention_of(p,    text) {
    text = " " panel_axes(p) " "
    return match(text, / contention=[a-z]+ /) ? substr(text, RSTART + 12, RLENGTH - 13) : ""
}

function without_contention(p,    text) {
    text = " " panel_axes(p) " "
    sub(/ contention=[a-z]+ /, " ", text)
    gsub(/^ | $/, "", text)
    return text
}

function write_contention_sizes(key,    p, k) {
    p = beside[key, "none"]
    if (!p)
        return
    for (k = 1; k <= n_sizes[p, 1]; k++)
        write_contention(key, p, sizes[p, 1, k])
}

function write_contention(key, p, of_size,    names, count, n, s, k, q, t, first, where, name, file, text, shown, plain, tone, curve) {
    count = split("none low medium high", names, " ")
    for (s = 1; s <= n_series[p]; s++) {
        curve = ""
        for (k = 1; k <= count; k++) {
            q = ((key, names[k]) in beside) ? beside[key, names[k]] : 0
            t = q ? series_at[q, series_name[p, s]] : 0
            if (t && ((q, t, of_size) in at))
                curve = curve level(k, at[q, t, of_size])
        }
        if (curve == "")
            continue
        shown[++n] = quote(series_name[p, s])
        plain[n] = series_name[p, s]
        text = text (n > 1 ? "\n\n" : "") curve
    }
    first = panel_first[p]
    where = without_contention(p)
    where = (where == "" ? "" : where " ") "size=" bytes(of_size)
    name = name_of(workload[first], label[first], mode[first], where) "-by"
    file = out "/" name ".plot"
    begin(file, workload[first], say(label[first] == "contention" ? "" : label[first], mode[first], where),
        ranks[first], nodes[first])
    printf "n = %d\n", n > file
    array(file, "label", n, shown)
    tones(n, plain, tone)
    array(file, "tone", n, tone)
    printf "$level << EOD\n%sEOD\n", text > file
    close(file)
    list(name, "contention")
}
