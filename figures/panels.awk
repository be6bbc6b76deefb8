# SPDX-License-Identifier: Apache-2.0
#
# What there is to draw of one platform and workload, after csv.awk. Reads the summary.csv and
# iteration.csv of its runs, oldest run first (a cell measured again is drawn as it was measured last;
# a run that was interrupted is drawn only while its section has no finished one, and one that measured
# nothing never), and writes to the folder `out`
#   NAME.plot   the data of one panel, as gnuplot commands: variables, arrays and datablocks
#   figures     a line a figure: SCRIPT NAME
#   ecdf        a line a cell whose samples are wanted: RUN CELL NAME SERIES
# A panel holds one curve (bar, line) a config. Parameters that take several values beside `size` are
# axes; each combination of their values is a panel of its own. So is each size of a training step,
# up to ITERATION_SIZES; of more sizes those are drawn where some config gains most on the first one.

BEGIN {
    FS = "\n"
    SIZES_OF_A_CURVE = 3
    ITERATION_SIZES = 2
    LEVELS_OF_A_CURVE = 3
    LEADS = 4
    for (i = split(ENVIRON["CONFIGS"], word, ","); i >= 1; i--)
        shown_configs[word[i]] = some_configs = 1
    for (i = 1; i < ARGC; i++)
        if (ARGV[i] ~ /(^|\/)summary\.csv$/)
            note_run(ARGV[i])
}

FNR == 1 {
    left_out = is_left_out(folder(FILENAME))
    kind = FILENAME
    sub(/.*\//, "", kind)
    header()
    next
}
left_out { next }
kind == "summary.csv" { summary_row() }
kind == "iteration.csv" { iteration_row() }
kind == "transitions.csv" { feature_row() }

END {
    stop_if_stopped()
    find_axes()
    for (i = 1; i <= n_cells; i++)
        place_cell(i)
    for (i = 1; i <= n_iterations; i++)
        place_iteration(i)
    for (i = 1; i <= n_panels; i++)
        if (curve_sizes(i) >= SIZES_OF_A_CURVE && (!n_iterations || mode[panel_first[i]] == "overlapped"))
            write_curves(i)
    for (i = 1; i <= n_iteration_panels; i++)
        if (sizes_that_gain_more(i) < ITERATION_SIZES)
            write_iterations(i)
    for (i = 1; i <= n_iteration_panels; i++)
        if (sizes_that_gain_more(i) < ITERATION_SIZES)
            write_ctas(i)
    write_contentions()
}

# ---- reading

function folder(file) {
    return match(file, /.*\//) ? substr(file, 1, RLENGTH) : ""
}

# Which section a run is of, whether it measured anything, and whether it was interrupted: some cell
# has only a part of its launches.
function note_run(file,    line, at, n, j, run) {
    run = folder(file)
    if ((getline line < file) > 0) {
        n = csv(line, f)
        for (j = 1; j <= n; j++)
            at[f[j]] = j
    }
    while ((getline line < file) > 0) {
        csv(line, f)
        section_of[run] = f[at["label"]]
        if (f[at["status"]] == "partial")
            unfinished[run] = 1
        if (f[at["median_s"]] != "")
            measured[run] = 1
    }
    close(file)
    if ((run in measured) && !(run in unfinished))
        finished[section_of[run]] = 1
}

# transitions.csv, of all runs, is no run's.
function is_left_out(run) {
    return (run in section_of) && (!(run in measured) || ((run in unfinished) && (section_of[run] in finished)))
}

# Of CONFIGS, or of any config if that is empty?
function is_shown() { return !some_configs || get("config") in shown_configs }

function summary_row(    id, i) {
    csv($0, f)
    if (num("median_s") == "" || !is_shown())
        return
    id = get("label") SUBSEP get("cell_id") # sections may share a cell: it is in the panels of both
    if (!(id in cell_at))
        cell_at[id] = ++n_cells
    i = cell_at[id]
    common(i, run, workload, config, ranks, nodes, size, params)
    label[i] = get("label")
    mode[i] = get("mode")
    cell_id[i] = get("cell_id")
    median[i] = num("median_s"); low[i] = bound("ci_low_s", median[i]); high[i] = bound("ci_high_s", median[i])
    busbw[i] = num("busbw_Bps") + 0
    limit[i] = num("limit_Bps") + 0
    ran[i] = get("ran")
}

function iteration_row(    id, i) {
    csv($0, f)
    if (num("overlapped_s") == "" || !is_shown())
        return
    id = get("label") SUBSEP get("config") SUBSEP num("ranks") SUBSEP num("nodes") SUBSEP get("params")
    if (!(id in iteration_at))
        iteration_at[id] = ++n_iterations
    i = iteration_at[id]
    i_label[i] = get("label")
    common(i, i_run, i_workload, i_config, i_ranks, i_nodes, i_size, i_params)
    A[i] = num("compute_s"); B[i] = num("comm_s"); C[i] = num("sequential_s"); D[i] = num("overlapped_s")
    D_low[i] = bound("overlapped_ci_low_s", D[i]); D_high[i] = bound("overlapped_ci_high_s", D[i])
    exposed[i] = num("exposed_s"); hidden[i] = num("hidden_s")
}

function common(i, run, workload, config, ranks, nodes, size, params) {
    run[i] = get("run_id"); workload[i] = get("workload"); config[i] = get("config")
    ranks[i] = num("ranks"); nodes[i] = num("nodes"); size[i] = num("size_B"); params[i] = get("params")
    platform = get("platform")
}

# ---- panels

# A parameter is an axis when the same config, mode and size has been measured at two values of it, or
# with it and without. The collective always is: a cell without it is an all-reduce.
function find_axes(    i, j, n, word, key, where) {
    for (i = 1; i <= n_cells; i++) {
        n = split(params[i] " ranks=" ranks[i] " nodes=" nodes[i], word, " ")
        for (j = 1; j <= n; j++) {
            key = word[j]
            sub(/=.*/, "", key)
            if (key != "size")
                value_of[i, key] = keys[key] = word[j]
        }
    }
    for (i = 1; i <= n_cells; i++) {
        where = label[i] SUBSEP mode[i] SUBSEP config[i] SUBSEP size[i]
        for (key in keys) {
            if (((where, key) in seen) && seen[where, key] != value_of[i, key])
                axis[key] = 1
            seen[where, key] = value_of[i, key]
        }
    }
    if ("collective" in keys)
        axis["collective"] = 1
}

function axes_of(params, ranks, nodes,    j, n, word, key, text) {
    n = split(params " ranks=" ranks " nodes=" nodes, word, " ")
    for (j = 1; j <= n; j++) {
        key = word[j]
        sub(/=.*/, "", key)
        if (key in axis)
            text = text " " word[j]
    }
    return substr(text, 2)
}

function place_cell(i,    key, p, s) {
    key = label[i] SUBSEP mode[i] SUBSEP axes_of(params[i], ranks[i], nodes[i])
    if (!(key in panel_at)) {
        panel_at[key] = ++n_panels
        panel_first[n_panels] = i
    }
    p = panel_at[key]
    if (!((p, config[i]) in series_at)) {
        series_at[p, config[i]] = ++n_series[p]
        series_name[p, n_series[p]] = config[i]
    }
    s = series_at[p, config[i]]
    if (!((p, s, size[i]) in at))
        sizes[p, s, ++n_sizes[p, s]] = size[i] + 0
    at[p, s, size[i]] = i
}

function curve_sizes(p,    s, most) {
    for (s = 1; s <= n_series[p]; s++)
        if (n_sizes[p, s] > most && sizes[p, s, 1] > 0)
            most = n_sizes[p, s]
    return most + 0
}

function name_of(workload, label, mode, axes,    text) {
    text = workload
    if (label != "") text = text "-" label
    if (mode != "") text = text "-" mode
    if (axes != "") text = text "-" axes
    gsub(/metric=/, "", text)
    gsub(/[^A-Za-z0-9._]+/, "-", text)
    return text
}

# The title of a panel: the parameters that its neighbours have with other values. The axis names the
# time that was measured.
function say(label, mode, axes,    n, i, word, key, value, text) {
    if (mode == "overlapped" && axes ~ /gemms=/)
        mode = "" # the GEMMs say that it is a step
    n = split(mode " " axes, word, /[\/ ]+/)
    for (i = 1; i <= n; i++) {
        key = value = word[i]
        sub(/=.*/, "", key)
        sub(/^[^=]*=/, "", value)
        if (value !~ /^(T_ss|L_iso|)$/)
            text = text (text == "" || key == "gemms" ? " " : ", ") in_words(key, value, axes ~ /gemms=/)
    }
    gsub(/^ | $/, "", text)
    sub(/^beside/, "gradient beside", text)
    return label == "" || text == "" ? label text : label ": " text
}

function in_words(key, value, is_step,    unit) {
    unit = value
    gsub(/[0-9.]/, "", unit)
    if (key == "size" && unit == "KiB" && value + 0 >= 10240) # of a recorded step
        return sprintf("%.0f MiB", value / 1024) (is_step ? " of gradient" : "")
    if (key == "size") return substr(value, 1, length(value) - length(unit)) " " unit (is_step ? " of gradient" : "")
    if (key == "gemms") return "beside " (value == 1 ? "one GEMM" : value " GEMMs")
    if (key == "buffers") return value " buffers"
    if (key == "contention") return value == "none" ? "no contention" : value " contention"
    if (key == "collective") return value
    return key == value ? value : key " " value
}

# ---- the look of a config: one colour, marker and dash in every figure (style.gp)

# Black (1, 9 and 17) is the baseline's. Others take the first one after a number from their letters that
# the panel has not used, of a new colour while there is one.
function tones(n, name, tone,    s, i, known, letters, t, used, colours) {
    for (i = split("auto ring/LL ring/LL128 ring/Simple tree/LL tree/LL128 tree/Simple ctas=4 - ctas=8 ctas=16 ctas=32 " \
            "ctas=2 ctas=1 Simple LL128 - LL ring tree nvls ctas=64", letters, " "); i >= 1; i--)
        known[letters[i]] = i
    for (s = 1; s <= n; s++)
        if (name[s] in known)
            use_tone(tone[s] = known[name[s]], used, colours)
    for (s = 1; s <= n; s++) {
        if (name[s] in known)
            continue
        t = 0
        for (i = 1; i <= length(name[s]); i++)
            t += index("=/0123456789abcdefghijklmnopqrstuvwxyz", tolower(substr(name[s], i, 1))) * i
        for (t = t % 24 + 1; (t in used && length(used) < 24) || (t % 8 == 1 && length(used) < 21) || \
                (t % 8 in colours && length(colours) < 8); t = t % 24 + 1)
            ;
        use_tone(tone[s] = t, used, colours)
    }
}
function use_tone(t, used, colours) {
    used[t] = colours[t % 8] = 1
    colours[1] = 1
}

# ---- which curves have a colour

# At most LEADS: auto, the best at the largest size, and those that are best at most sizes, by verdict before
# by median.
function write_leads(p, file,    s, k, n, i, points, best_at, least, largest, of, lead, rest, n_lead, n_rest) {
    for (s = 1; s <= n_series[p]; s++) {
        points[s] = (series_name[p, s] == "auto") * 1e9
        for (k = 1; k <= n_sizes[p, s]; k++) {
            of = sprintf("%.0f", sizes[p, s, k]) # mawk writes an integer above 2^31 as 2.9e+09
            i = at[p, s, of]
            points[s] += 1000 * best(p, i)
            if (!(of in least) || y[i] + 0 < least[of]) {
                least[of] = y[i] + 0
                best_at[of] = s
            }
            largest = of + 0 > largest + 0 ? of : largest
        }
    }
    for (of in best_at)
        points[best_at[of]] += of == largest ? 1e6 : 1
    for (s = 1; s <= n_series[p]; s++) {
        n = 1
        for (k = 1; k <= n_series[p]; k++)
            n += points[k] > points[s] || (points[k] == points[s] && k < s)
        if (n <= LEADS)
            lead[++n_lead] = s
        else
            rest[++n_rest] = s
    }
    printf "n_lead = %d\nn_rest = %d\n", n_lead, n_rest > file
    array(file, "lead", n_lead, lead)
    if (!n_rest)
        rest[1] = 1 # gnuplot evaluates the first index of an empty loop
    array(file, "rest", n_rest > 0 ? n_rest : 1, rest)
}

# What NCCL ran in the curve of auto: $strip has a line for each stretch of sizes.
function write_strip(p, file,    s, k, i, text, last, from, to, n) {
    s = worded(p)
    sort_sizes(p, s)
    print "$strip << EOD" > file
    for (k = 1; k <= n_sizes[p, s] + 1; k++) {
        i = k <= n_sizes[p, s] ? at[p, s, sprintf("%.0f", sizes[p, s, k])] : 0
        text = i ? ran[i] : ""
        sub(/ .*/, "", text)
        if (text != last || !i) {
            if (last != "") {
                print from, to, datum(last) > file
                n++
            }
            from = i ? size[i] : 0
            last = text
        }
        to = i ? size[i] : 0
    }
    if (!n)
        print "NaN NaN \"\"" > file
    printf "EOD\nstrips = %d\nstrip_of = %s\n", n, quote(series_name[p, s]) > file
}

# ---- curves as a ratio to the baseline

# What the baseline measured at each size: $baseline, with its series in `baseline_at` (0: only it was
# measured, or everything but it).
function write_baseline(p, file,    s, k, i) {
    s = worded(p)
    baseline_of[p] = series_name[p, s] == "auto" && n_series[p] > 1 ? s : 0
    print "$baseline << EOD" > file
    for (k = 1; k <= n_sizes[p, s]; k++) {
        i = at[p, s, sprintf("%.0f", sizes[p, s, k])]
        print size[i], median[i], (busbw[i] > 0 ? busbw[i] : "NaN") > file
    }
    printf "EOD\nvalues = %d\nbaseline_at = %d\n", n_sizes[p, s], baseline_of[p] > file
}

# Time over that of the baseline, with its interval: from the same blocks if they were compared. Of the
# baseline, the interval is the A/A floor.
function ratio_of(p, i,    b, of, j, s, floor) {
    b = baseline_of[p]
    if (!b || !((p, b, size[i]) in at))
        return "NaN NaN NaN"
    of = contrast_of(i)
    b = at[p, b, size[i]]
    if (i == b) {
        for (s = 1; s <= n_series[p]; s++)
            if (((p, s, size[i]) in at) && (j = contrast_of(at[p, s, size[i]])))
                floor = v_floor[j]
        ratio[i] = 1
        return "1 " 1 / (1 + floor) " " 1 + floor
    }
    if (of && v_ratio[of] != "" && v_baseline[of] == config[b]) {
        ratio[i] = v_ratio[of]
        return ratio[i] " " (v_low[of] == "" ? ratio[i] " " ratio[i] : v_low[of] " " v_high[of])
    }
    ratio[i] = median[i] / median[b]
    return ratio[i] " " ratio[i] " " ratio[i]
}

function bytes(b) {
    if (b % 1073741824 == 0) return b / 1073741824 "GiB"
    if (b % 1048576 == 0) return b / 1048576 "MiB"
    if (b % 1024 == 0) return b / 1024 "KiB"
    return b "B"
}

function begin(file, workload, detail, ranks, nodes) {
    printf "platform = %s\nworkload = %s\ndetail = %s\nranks = %d\nnodes = %d\n", quote(platform),
        quote(workload), quote(detail), ranks, nodes > file
}

function array(file, name, n, value,    i, text) {
    for (i = 1; i <= n; i++)
        text = text (i > 1 ? ", " : "") value[i]
    printf "array %s[%d] = [%s]\n", name, n, text > file
}

function list(name, script) { print script, name > (out "/figures") }

# ---- curves against size

function write_curves(p,    first, name, file, s, k, i, row, names, plain, tone, top, isolated, where, shares) {
    first = panel_first[p]
    where = axes_of(params[first], ranks[first], nodes[first])
    name = name_of(workload[first], label[first], mode[first], where)
    file = out "/" name ".plot"
    isolated = (" " mode[first] " " params[first] " ") ~ /[ =\/](isolated|L_iso)[ \/]/
    begin(file, workload[first], say(label[first], mode[first], where), ranks[first], nodes[first])
    for (s = 1; s <= n_series[p]; s++) {
        names[s] = quote(series_name[p, s])
        for (k = 1; k <= n_sizes[p, s]; k++) {
            i = at[p, s, sizes[p, s, k]]
            if (busbw[i] > 0) top = 1
        }
    }
    shares = choose_values(p)
    printf "of_what = %s\nshares = %d\n", quote(mode[first] == "overlapped" ? "iteration" : "operation"), shares > file
    printf "isolated = %d\nlimit = %s\nn = %d\n", isolated, (limit[first] > 0 ? limit[first] : "NaN"),
        n_series[p] > file
    array(file, "label", n_series[p], names)
    for (s = 1; s <= n_series[p]; s++)
        plain[s] = series_name[p, s]
    tones(n_series[p], plain, tone)
    array(file, "tone", n_series[p], tone)
    write_leads(p, file)
    write_strip(p, file)
    write_baseline(p, file)
    print "c_size = 1; c_time = 2; c_time_low = 3; c_time_high = 4\n" \
        "c_bus = 5; c_bus_low = 6; c_bus_high = 7; c_best = 8; c_ratio = 9; c_ratio_low = 10; c_ratio_high = 11\n$curve << EOD" > file
    for (s = 1; s <= n_series[p]; s++) {
        sort_sizes(p, s)
        for (k = 1; k <= n_sizes[p, s]; k++) {
            i = at[p, s, sizes[p, s, k]]
            row = busbw[i] > 0 ? busbw[i] " " busbw[i] * median[i] / high[i] " " busbw[i] * median[i] / low[i] \
                               : "NaN NaN NaN"
            print size[i], y[i], y_low[i], y_high[i], row, best(p, i), ratio_of(p, i) > file
        }
        if (s < n_series[p])
            print "\n" > file
    }
    print "EOD" > file
    write_features(p, file)
    close(file)
    list(name, "latency")
    if (top)
        list(name, "bandwidth")
}

function sort_sizes(p, s,    j, k, v) {
    for (j = 2; j <= n_sizes[p, s]; j++) {
        v = sizes[p, s, j]
        for (k = j - 1; k >= 1 && sizes[p, s, k] > v; k--)
            sizes[p, s, k + 1] = sizes[p, s, k]
        sizes[p, s, k + 1] = v
    }
}

# ---- iterations

function place_iteration(i,    key, p, s) {
    key = i_label[i] SUBSEP i_size[i] SUBSEP axes_of(i_params[i], i_ranks[i], i_nodes[i])
    if (!(key in iteration_panel)) {
        iteration_panel[key] = ++n_iteration_panels
        many_sizes[i_size[i]] = 1
        iteration_axes[n_iteration_panels] = i_label[i] SUBSEP axes_of(i_params[i], i_ranks[i], i_nodes[i])
    }
    p = iteration_panel[key]
    members[p, ++n_members[p]] = i
}

# Shortest iteration of the panel, as a share of the first config's.
function gain(p,    s, i, shortest, first) {
    first = D[members[p, 1]]
    shortest = first
    for (s = 2; s <= n_members[p]; s++) {
        i = members[p, s]
        if (D[i] + 0 < shortest + 0)
            shortest = D[i]
    }
    return first > 0 ? 1 - shortest / first : 0
}

function sizes_that_gain_more(p,    q, n) {
    for (q = 1; q <= n_iteration_panels; q++)
        if (iteration_axes[q] == iteration_axes[p] && (gain(q) > gain(p) || (gain(q) == gain(p) && q < p)))
            n++
    return n + 0
}

function write_iterations(p,    first, where, name, file, s, i, names, plain, tone, of_ecdf, n_ecdf, n, d, k, text, first_comm, first_time) {
    first = members[p, 1]
    where = axes_of(i_params[first], i_ranks[first], i_nodes[first])
    n = 0
    for (k in many_sizes)
        n++
    text = n > 1 ? "size=" bytes(i_size[first]) (where == "" ? "" : " ") where : where
    name = name_of(i_workload[first], i_label[first], "", text)
    file = out "/" name ".plot"
    begin(file, i_workload[first], say(i_label[first], "", text), i_ranks[first], i_nodes[first])
    n = n_members[p]
    order_keys(p, "comm", B, key_comm, again_comm)
    order_by_ratios(p, key_comm, again_comm)
    order_keys(p, "overlapped", D, key_time, again_time)
    for (s = 1; s <= n; s++) {
        v_of_comm[s] = B[members[p, s]] + 0
        v_of_time[s] = D[members[p, s]] + 0
        none[s] = 0
    }
    for (s = 1; s <= n; s++) {
        i = members[p, s]
        names[s] = quote(i_config[i])
        v_compute[s] = A[i]; v_comm[s] = B[i]; v_time[s] = D[i]; v_time_low[s] = D_low[i]; v_time_high[s] = D_high[i]
        v_exposed[s] = positive(exposed[i]); v_hidden[s] = positive(hidden[i])
        d = cell_like(i, "comm")
        v_comm_low[s] = d ? low[d] : "NaN"; v_comm_high[s] = d ? high[d] : "NaN"
        v_by_comm[s] = rank(s, n, v_of_comm, none); v_by_time[s] = rank(s, n, v_of_time, none)
        if (rank(s, n, key_comm, again_comm) == 1)
            first_comm = s
        if (rank(s, n, key_time, again_time) == 1)
            first_time = s
        plain[s] = i_config[i]
        d = cell_like(i, "overlapped")
        if (d && (s == baseline_in(p) || s == first_comm || s == first_time)) {
            of_ecdf[++n_ecdf] = s
            print run[d], cell_id[d], name, s > (out "/ecdf")
        }
    }
    tones(n, plain, tone)
    printf "size_B = %s\nn = %d\n", i_size[first], n > file
    array(file, "label", n, names)
    array(file, "tone", n, tone)
    if (n_ecdf)
        array(file, "of_ecdf", n_ecdf, of_ecdf)
    array(file, "compute", n, v_compute)
    array(file, "exposed", n, v_exposed)
    array(file, "hidden", n, v_hidden)
    array(file, "time", n, v_time)
    array(file, "time_low", n, v_time_low)
    array(file, "time_high", n, v_time_high)
    array(file, "by_time", n, v_by_time)
    array(file, "comm", n, v_comm)
    array(file, "comm_low", n, v_comm_low)
    array(file, "comm_high", n, v_comm_high)
    array(file, "by_comm", n, v_by_comm)
    printf "first_comm = %d\nfirst_time = %d\n", first_comm, first_time > file
    array(file, "again_comm", n, again_comm)
    array(file, "again_time", n, again_time)
    write_pairs(p, file, first_comm)
    close(file)
    list(name, "decomposition")
    list(name, "ranks")
    if (n_ecdf)
        list(name, "ecdf")
}

function positive(x) { return x + 0 > 0 ? x : 0 }

# The cell of an iteration's config, in one of its modes.
function cell_like(i, want,    j) {
    for (j = 1; j <= n_cells; j++)
        if (config[j] == i_config[i] && size[j] == i_size[i] && run[j] == i_run[i] && mode[j] == want &&
            axes_of(params[j], ranks[j], nodes[j]) == axes_of(i_params[i], i_ranks[i], i_nodes[i]))
            return j
    return 0
}

# The keys by which the first config is found: it is none that ran the same operation as the baseline,
# whatever its time.
function order_keys(p, want, value, key, again,    s, t, i, of) {
    for (s = 1; s <= n_members[p]; s++) {
        i = members[p, s]
        of = cell_like(i, want)
        of = of ? contrast_of(of) : 0
        again[s] = is_baseline_again(of) ? 1 : 0
        key[s] = value[i] + 0
        for (t = 1; again[s] && t <= n_members[p]; t++)
            if (i_config[members[p, t]] == v_baseline[of])
                key[s] = value[members[p, t]] + 0
    }
}

# Alone, configs are in the order of their ratios to the baseline in the same blocks: `compare --best-of
# comm` selects by them too. Without a ratio of each they stay in the order of their medians.
function order_by_ratios(p, key, again,    s, of, base, ratio) {
    for (s = 1; s <= n_members[p]; s++) {
        of = cell_like(members[p, s], "comm")
        of = of ? contrast_of(of) : 0
        if (of ? v_ratio[of] == "" : base)
            return
        base = of ? base : s
        ratio[s] = of && !again[s] ? v_ratio[of] + 0 : 1
    }
    for (s = 1; base && s <= n_members[p]; s++)
        key[s] = ratio[s]
}

function rank(s, n, key, again,    t, r) {
    r = 1
    for (t = 1; t <= n; t++)
        if (key[t] < key[s] || (key[t] == key[s] && (again[t] < again[s] || (again[t] == again[s] && t < s))))
            r++
    return r
}
