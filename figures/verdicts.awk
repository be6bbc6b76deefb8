# SPDX-License-Identifier: Apache-2.0
#
# Beside panels.awk, whose functions it uses: the panels of compare.csv, for the scripts forest and
# verdict_map. A contrast measured again is drawn as it was measured last; of a training step the
# overlapped time alone. A panel that would have more than FOREST_ROWS rows shows the forest of some
# sizes, evenly spread, and says how many; the map has them all.

BEGIN {
    FOREST_ROWS = 36
    CODES = "faster,slower,equivalent,inconclusive,same operation"
    for (i = 1; i <= split(CODES, codes, ","); i++)
        code_of[codes[i]] = i
}

kind == "compare.csv" { verdict_row() }

END {
    for (i = 1; i <= n_contrasts; i++)
        if (!n_iterations || v_mode[i] == "overlapped")
            place_contrast(i)
    for (i = 1; i <= n_verdict_panels; i++)
        write_verdicts(i)
}

# ---- reading

function verdict_row(    id, i) {
    csv($0, f)
    if (!is_shown())
        return
    id = get("label") SUBSEP get("mode") SUBSEP get("config") SUBSEP num("size_B") SUBSEP get("params")
    # Two rows of one run are launches of two kinds: the one with more of them is drawn.
    if (id in contrast_at && v_run[contrast_at[id]] == get("run_id") && v_launches[contrast_at[id]] >= num("launches") + 0)
        return
    if (!(id in contrast_at))
        contrast_at[id] = ++n_contrasts
    i = contrast_at[id]
    v_run[i] = get("run_id"); v_label[i] = get("label"); v_mode[i] = get("mode")
    v_config[i] = get("config"); v_size[i] = num("size_B") + 0; v_params[i] = get("params")
    v_workload[i] = get("workload"); v_baseline[i] = get("baseline"); v_launches[i] = num("launches") + 0
    v_ratio[i] = num("ratio"); v_low[i] = num("ratio_low"); v_high[i] = num("ratio_high")
    v_floor[i] = num("floor") + 0; v_equivalence[i] = num("equivalence") + 0; v_code[i] = code_of[get("verdict")]
    platform = get("platform")
}

# ---- the best of a size, for the curves

# Told from all others by the verdicts: of the baseline, each other config is slower; another config is
# faster, and its ratio to the baseline lies below the others' with the whole interval. A config that
# ran what the baseline ran is the baseline.
function best(p, i,    s, j, mine, of) {
    mine = contrast_of(i)
    for (s = 1; s <= n_series[p]; s++) {
        if (!((p, s, size[i]) in at))
            continue
        j = at[p, s, size[i]]
        of = contrast_of(j)
        if (is_baseline_again(of))
            continue
        if (j != i && (mine ? !below(mine, of, j) : !of || v_code[of] != code_of["slower"]))
            return 0
    }
    return mine ? v_code[mine] == code_of["faster"] : n_series[p] > 1
}

function is_baseline_again(of) { return of && v_code[of] == code_of["same operation"] }

function below(mine, of, j) {
    return of ? v_high[mine] != "" && v_low[of] != "" && v_high[mine] + 0 < v_low[of] + 0 : config[j] == v_baseline[mine]
}

# Of a cell against its baseline; 0: it is the baseline, or was not compared.
function contrast_of(i,    id) {
    id = label[i] SUBSEP mode[i] SUBSEP config[i] SUBSEP size[i] SUBSEP params[i]
    return id in contrast_at && v_run[contrast_at[id]] == run[i] ? contrast_at[id] : 0
}

# ---- panels

# A run's ranks and nodes stand in summary.csv.
function cell_of_run(i,    j) {
    for (j = 1; j <= n_cells; j++)
        if (run[j] == v_run[i])
            return j
    return 0
}

function place_contrast(i,    key, p, j) {
    j = cell_of_run(i)
    if (!j)
        return
    v_where[i] = axes_of(v_params[i], ranks[j], nodes[j])
    key = v_label[i] SUBSEP v_mode[i] SUBSEP v_baseline[i] SUBSEP v_where[i]
    if (!(key in verdict_panel)) {
        verdict_panel[key] = ++n_verdict_panels
        v_first[n_verdict_panels] = i
        v_cell[n_verdict_panels] = j
    }
    p = verdict_panel[key]
    if (!((p, "config", v_config[i]) in v_place)) {
        v_configs[p, ++n_v_configs[p]] = v_config[i]
        v_place[p, "config", v_config[i]] = n_v_configs[p]
    }
    if (!((p, "size", v_size[i]) in v_place)) {
        v_sizes[p, ++n_v_sizes[p]] = v_size[i]
        v_place[p, "size", v_size[i]] = 1
    }
    v_at[p, v_size[i], v_config[i]] = i
}

function sort_verdict_sizes(p,    j, k, v) {
    for (j = 2; j <= n_v_sizes[p]; j++) {
        v = v_sizes[p, j]
        for (k = j - 1; k >= 1 && v_sizes[p, k] > v; k--)
            v_sizes[p, k + 1] = v_sizes[p, k]
        v_sizes[p, k + 1] = v
    }
}

function begin_verdicts(file, p,    i) {
    i = v_first[p]
    begin(file, v_workload[i], say(v_label[i], v_mode[i], v_where[i]), ranks[v_cell[p]], nodes[v_cell[p]])
    printf "baseline = %s\nn_sizes = %d\n", quote(v_baseline[i]), n_v_sizes[p] > file
}

function write_verdicts(p,    i, name) {
    i = v_first[p]
    sort_verdict_sizes(p)
    name = name_of(v_workload[i], v_label[i], v_mode[i], v_where[i])
    write_forest(p, name "-ratios")
    if (n_v_sizes[p] > 1)
        write_map(p, name "-sizes")
}

function write_forest(p, name,    intervals, file, groups, g, s, c, i, y, rows, names, places, sizes_text, tops, floors, bottoms) {
    file = out "/" name ".plot"
    begin_verdicts(file, p)
    groups = int(FOREST_ROWS / n_v_configs[p])
    groups = groups < 1 ? 1 : groups > n_v_sizes[p] ? n_v_sizes[p] : groups
    print "$forest << EOD" > file
    for (g = 1; g <= groups; g++) {
        s = groups > 1 ? v_sizes[p, 1 + int((g - 1) * (n_v_sizes[p] - 1) / (groups - 1) + 0.5)] : v_sizes[p, n_v_sizes[p]]
        tops[g] = y + 0.5
        floors[g] = 0
        for (c = 1; c <= n_v_configs[p]; c++) {
            if (!((p, s, v_configs[p, c]) in v_at))
                continue
            i = v_at[p, s, v_configs[p, c]]
            names[++rows] = quote(v_config[i])
            places[rows] = ++y
            floors[g] = v_floor[i] > floors[g] ? v_floor[i] : floors[g]
            if (v_low[i] != "" && ++intervals)
                print y, v_ratio[i], v_low[i], v_high[i], v_code[i] > file
        }
        bottoms[g] = y + 0.5
        sizes_text[g] = s
        y += 0.6
    }
    printf "EOD\nrows = %d\ngroups = %d\nlast = %g\nequivalence = %g\n", rows, groups, y - 0.1, v_equivalence[v_first[p]] > file
    array(file, "label", rows, names)
    array(file, "place", rows, places)
    array(file, "size", groups, sizes_text)
    array(file, "top", groups, tops)
    array(file, "bottom", groups, bottoms)
    array(file, "floor_of", groups, floors)
    close(file)
    if (intervals)
        list(name, "forest")
}

function write_map(p, name,    file, j, c, i, names, values) {
    file = out "/" name ".plot"
    begin_verdicts(file, p)
    for (c = 1; c <= n_v_configs[p]; c++)
        names[c] = quote(v_configs[p, c])
    for (j = 1; j <= n_v_sizes[p]; j++)
        values[j] = v_sizes[p, j]
    printf "rows = %d\n", n_v_configs[p] > file
    array(file, "label", n_v_configs[p], names)
    array(file, "size", n_v_sizes[p], values)
    print "$map << EOD" > file
    for (j = 1; j <= n_v_sizes[p]; j++)
        for (c = 1; c <= n_v_configs[p]; c++)
            if ((p, v_sizes[p, j], v_configs[p, c]) in v_at) {
                i = v_at[p, v_sizes[p, j], v_configs[p, c]]
                print j, c, v_code[i], (v_ratio[i] == "" ? 1 : v_ratio[i]) > file
            }
    print "EOD" > file
    close(file)
    list(name, "verdict_map")
}
