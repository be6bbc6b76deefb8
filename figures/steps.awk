# SPDX-License-Identifier: Apache-2.0
#
# Beside panels.awk, whose functions it uses: two things about training steps.
#   pairs    the verdict on one config against another, from compare.csv (against the baseline) and
#            chosen.csv (against the config that is fastest alone). A pair that shares no contrast has
#            no verdict, and none is derived for it.
#   shares   a step's time over A, compute alone in the same blocks. Groups (sizes, numbers of GEMMs)
#            run at different clocks, because the GPU's power is capped, so a curve that crosses
#            groups shows shares where A was measured.

kind == "compare.csv" || kind == "chosen.csv" { pair_row() }

# ---- pairs

function pair_row(    id) {
    csv($0, f)
    id = get("run_id") SUBSEP get("params") SUBSEP get("config") SUBSEP get("baseline")
    if (kind == "compare.csv")
        baseline_of[get("run_id")] = get("baseline")
    # Two rows of one pair are launches of two kinds: the one with more of them counts.
    if (id in pair_verdict && pair_launches[id] >= num("launches") + 0)
        return
    pair_launches[id] = num("launches") + 0
    pair_verdict[id] = get("verdict")
}

# Of iteration i against iteration j in a mode: 1 faster, 2 slower, 3 not shown to differ, 0 not compared.
function verdict_between(i, j, mode,    v) {
    if (!i || !j || i == j || i_run[i] != i_run[j])
        return 0
    v = pair_of(i, j, mode)
    if (v != "")
        return v == "faster" ? 1 : v == "slower" ? 2 : 3
    v = pair_of(j, i, mode)
    return v == "" ? 0 : v == "faster" ? 2 : v == "slower" ? 1 : 3
}

function pair_of(i, j, mode,    params, id) {
    params = i_params[i]
    sub(/mode=[a-z]+/, "mode=" mode, params)
    id = i_run[i] SUBSEP params SUBSEP i_config[i] SUBSEP i_config[j]
    return id in pair_verdict ? pair_verdict[id] : ""
}

# The member of a panel that is its run's baseline, as its place in the panel; 0: none.
function baseline_in(p,    s) {
    for (s = 1; s <= n_members[p]; s++)
        if (i_config[members[p, s]] == baseline_of[i_run[members[p, s]]])
            return s
    return 0
}

# For the scripts: the verdict on each config against the baseline, alone and in the step, and in the
# step against the config that is first alone.
function write_pairs(p, file, first_comm,    s, n, base, i, first) {
    n = n_members[p]
    base = baseline_in(p)
    first = members[p, first_comm]
    for (s = 1; s <= n; s++) {
        i = members[p, s]
        of_alone[s] = base ? verdict_between(i, members[p, base], "comm") : 0
        of_step[s] = base ? verdict_between(i, members[p, base], "overlapped") : 0
        of_first[s] = verdict_between(i, first, "overlapped")
    }
    printf "baseline_at = %d\n", base > file
    array(file, "alone", n, of_alone)
    array(file, "step", n, of_step)
    array(file, "against_first", n, of_first)
}

# ---- shares

# The iteration of a cell, with A measured; 0: none.
function iteration_beside(i,    id, k) {
    id = label[i] SUBSEP config[i] SUBSEP ranks[i] SUBSEP nodes[i] SUBSEP params[i]
    k = id in iteration_at ? iteration_at[id] : 0
    return k && i_run[k] == run[i] && A[k] > 0 ? k : 0
}

# What a panel of curves shows: shares where each of its cells has one, otherwise times. Is it shares?
function choose_values(p,    s, k, i, j, shares) {
    shares = 1
    for (s = 1; s <= n_series[p]; s++)
        for (k = 1; k <= n_sizes[p, s]; k++)
            shares = shares && iteration_beside(at[p, s, sizes[p, s, k]])
    for (s = 1; s <= n_series[p]; s++)
        for (k = 1; k <= n_sizes[p, s]; k++) {
            i = at[p, s, sizes[p, s, k]]
            j = iteration_beside(i)
            y[i] = shares ? D[j] / A[j] : median[i]
            y_low[i] = shares ? D_low[j] / A[j] : low[i]
            y_high[i] = shares ? D_high[j] / A[j] : high[i]
        }
    return shares
}
