# SPDX-License-Identifier: Apache-2.0
#
# The panel of compare.csv and chosen.csv, after csv.awk: what each training step of a platform loses
# by the config with the highest bandwidth. -v folder=PLATFORM.
#   chosen.csv    has that config as its baseline. The step's best config is the one that is faster by
#                 verdict, with the largest lower bound; without one, the one with the lowest ratio.
#   compare.csv   has the steps whose bandwidth was not measured (trials, trainings, steps recorded
#                 without operations alone). They show what the baseline loses;
#                 synthetic ones only where there is nothing else.
# Of several runs of a step the one with the most contrasts is drawn; of equal ones, the latest.

BEGIN {
    split("synthetic step trial training", level_names, " ")
    split("synthetic steps,replayed steps,trials inside a job,trainings", level_words, ",")
}
FNR == 1 { header(); chosen = FILENAME ~ /chosen\.csv$/; next }
{ csv($0, f) }
get("platform") == folder && (get("mode") == "overlapped" || get("level") ~ /^tr/ && !chosen) { contrast() }

function contrast(    i) {
    i = ++n
    level[i] = get("level"); section[i] = level[i] SUBSEP get("workload") SUBSEP get("label")
    run[i] = get("run_id"); size[i] = num("size_B"); params[i] = get("params"); from_chosen[i] = chosen
    config[i] = get("config"); baseline[i] = get("baseline"); verdict[i] = get("verdict")
    measured[i] = num("ratio") != ""
    if (measured[i]) {
        ratio[i] = num("ratio") + 0; low[i] = bound("ratio_low", ratio[i]) + 0; high[i] = bound("ratio_high", ratio[i]) + 0
    }
    if (level[i] == "training") {
        keys_of_config(i, config[i])
        keys_of_config(i, baseline[i])
    }
}

# The label of a training's config holds its settings, whatever they are called.
function keys_of_config(i, name,    n, k, part, m, word, j) {
    n = split(name, part, "/")
    m = split(params[i], word, " ")
    for (k = 1; k <= n; k++)
        if (part[k] ~ /=/)
            of_config[section[i], substr(part[k], 1, index(part[k], "=") - 1)] = 1
        else
            for (j = 1; j <= m; j++)
                if (substr(word[j], index(word[j], "=") + 1) == part[k])
                    of_config[section[i], substr(word[j], 1, index(word[j], "=") - 1)] = 1
}

# The parameters of the step: without those of its config.
function step_params(i,    n, k, word, key, text) {
    n = split(params[i], word, " ")
    for (k = 1; k <= n; k++) {
        key = word[k]
        sub(/=.*/, "", key)
        if (key !~ /^(mode|config|algorithm|protocol|ctas|policy|memory|bucket_cap|bucket_first|size|step_size|step_calls)$/ && \
            !((section[i], key) in of_config))
            text = text " " word[k]
    }
    return text
}

function find_steps(    i, step) {
    for (i = 1; i <= n; i++) {
        step = of[i] = section[i] SUBSEP size[i] SUBSEP step_params(i)
        if (!(step in met_step))
            steps[++n_steps] = step
        met_step[step] = 1
        if (from_chosen[i])
            has_bandwidth[step] = 1
        real = real || level[i] != "synthetic"
    }
    for (i = 1; i <= n; i++) {
        step = of[i]
        if (!measured[i] || !from_chosen[i] && step in has_bandwidth)
            continue
        if (++rows[step, run[i]] > most[step] || (rows[step, run[i]] == most[step] && run[i] > drawn[step])) {
            most[step] = rows[step, run[i]]
            drawn[step] = run[i]
        }
    }
}

# A lower ratio is a larger loss of the baseline. A verdict comes first; the same operation says nothing.
function rank(i) { return verdict[i] == "faster" ? high[i] - 1e6 : verdict[i] == "same operation" ? 1e6 : ratio[i] }

function best_of(step,    i, best) {
    for (i = 1; i <= n; i++)
        if (of[i] == step && run[i] == drawn[step] && measured[i] && (from_chosen[i] || !(step in has_bandwidth)) && \
            (!best || rank(i) < rank(best)))
            best = i
    return best
}

# ---- in words

# As in the advice: exact where that is short, "24 KiB", else with three digits, "1.36 GiB".
function bytes_text(b,    power, unit, text) {
    split("B KiB MiB GiB", unit, " ")
    for (power = 4; power > 1 && b % 1024 ^ (power - 1);)
        power--
    text = b / 1024 ^ (power - 1) " " unit[power]
    if (length(text) <= length("1023 MiB"))
        return text
    for (power = 1; b >= 999.5 && power < 4; power++)
        b /= 1024
    return sprintf("%.3g %s", b, unit[power])
}

# As in the advice: the label, the size, and the parameters in which the steps of a section differ, or all
# with a number of GEMMs or buckets.
function step_words(step,    part, n, i, word, key, text, graph) {
    split(step, part, SUBSEP)
    text = part[4] > 0 ? bytes_text(part[4]) : part[3] != "" ? "" : part[1] == "training" ? "job" : "step"
    if (part[1] == "synthetic")
        sub(/ /, "", text) # its size is a setting: "16MiB"
    text = part[3] (part[3] != "" && text != "" ? " " : "") text
    n = split(part[5], word, " ")
    for (i = 1; i <= n; i++) {
        key = word[i]
        sub(/=.*/, "", key)
        if (word[i] == "launch=graph")
            graph = ", CUDA graph"
        else if (key == "gemms" ? part[1] != "step" : key == "collective" || key == "launch" || values[group_of(step), key] > 1)
            text = text " " word[i] # a replayed step has GEMMs of its own
    }
    return text graph
}
function group_of(step,    part) { split(step, part, SUBSEP); return part[1] SUBSEP part[2] SUBSEP part[3] }
function count_values(step,    part, n, i, key, group) {
    split(step, part, SUBSEP)
    group = group_of(step)
    n = split(part[5], word, " ")
    for (i = 1; i <= n; i++) {
        key = word[i]
        sub(/=.*/, "", key)
        if (key == "issue")
            issue[group] = word[i] ~ /=after$/ ? ", buckets issued one by one" : ", one bucket beside GEMMs"
        if (!((group, word[i]) in met)) {
            met[group, word[i]] = 1
            values[group, key]++
        }
    }
}

function heading_of(step, l,    part, group) {
    split(step, part, SUBSEP)
    group = group_of(step)
    if (!(step in has_bandwidth))
        return level_words[l] (any_bandwidth ? ": baseline → best other" : "")
    return level_words[l] (group in issue && part[1] != "step" ? issue[group] : "") (n_baseline ? ": highest bandwidth → best other" : "")
}

# Synthetic first, then the levels that say more; in a group by size, then as measured.
function in_order(a, b,    x, y) {
    split(a, x, SUBSEP)
    split(b, y, SUBSEP)
    if (level_at[x[1]] != level_at[y[1]])
        return level_at[x[1]] < level_at[y[1]]
    if ((a in has_bandwidth) != (b in has_bandwidth))
        return a in has_bandwidth
    if (x[2] SUBSEP x[3] != y[2] SUBSEP y[3])
        return x[2] SUBSEP x[3] < y[2] SUBSEP y[3]
    return x[4] + 0 <= y[4] + 0
}

function write_step(step,    i, part, of_group) {
    split(step, part, SUBSEP)
    if (real && part[1] == "synthetic" && !(step in has_bandwidth))
        return # as the advice: a sweep that explains, beside steps that answer
    i = best_of(step)
    if (!i || verdict[i] == "same operation") {
        if (i)
            n_same++
        else
            n_without++
        return
    }
    if (!(step in has_bandwidth))
        n_baseline++
    of_group = heading_of(step, level_at[part[1]])
    if (of_group != group) {
        group = of_group
        y += n_groups ? 1.3 : 0.9
        headings = headings ", " quote(group)
        at = at ", " y
        n_groups++
    }
    y++
    drawn_rows++
    text = text sprintf("%g %.9g %.9g %.9g %d\n", y, 1 / ratio[i], 1 / high[i], 1 / low[i], verdict[i] != "inconclusive")
    names = names ", " quote(step_words(step))
    pairs = pairs ", " quote(baseline[i] " → " config[i])
    places = places ", " y
}

# "Not shown: 2 steps with one launch, 1 whose best config ran the same operation".
function not_shown(    text) {
    if (n_without)
        text = n_without " step" (n_without > 1 ? "s" : "") " without an interval"
    if (n_same)
        text = text (text ? ", " : "") n_same " of the same operation"
    return text ? "not shown: " text : ""
}

END {
    stop_if_stopped()
    for (i in level_names)
        level_at[level_names[i]] = i
    find_steps()
    for (i in has_bandwidth)
        any_bandwidth = 1
    for (i = 1; i <= n_steps; i++) {
        count_values(steps[i])
        for (j = i; j > 1 && !in_order(steps[j - 1], steps[j]); j--) {
            step = steps[j]; steps[j] = steps[j - 1]; steps[j - 1] = step
        }
    }
    for (i = 1; i <= n_steps; i++)
        write_step(steps[i])
    if (!drawn_rows) {
        names = pairs = ", ''"
        places = ", 1"
        headings = ", 'no step was compared yet'"
        at = ", 0.9"
        text = "1 1 1 1 2\n"
        y = drawn_rows = n_groups = 1
    }
    printf "of_baseline = %d\nof_bandwidth = %d\nnot_shown = %s\n", n_baseline, drawn_rows - n_baseline, quote(not_shown())
    printf "platform = %s\nworkload = \"\"\ndetail = \"\"\nrows = %d\ngroups = %d\nlast = %g\n", quote(folder), drawn_rows, n_groups, y
    printf "array label[%d] = [%s]\narray pair[%d] = [%s]\narray place[%d] = [%s]\n", drawn_rows, substr(names, 3), \
        drawn_rows, substr(pairs, 3), drawn_rows, substr(places, 3)
    printf "array heading[%d] = [%s]\narray heading_at[%d] = [%s]\n", n_groups, substr(headings, 3), n_groups, substr(at, 3)
    printf "$lost << EOD\n%sEOD\n", text
}
