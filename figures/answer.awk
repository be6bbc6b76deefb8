# SPDX-License-Identifier: Apache-2.0
#
# The panel of compare.csv and chosen.csv, after csv.awk: what each training step of a platform loses
# by the config with the highest bandwidth (the winner). -v folder=PLATFORM.
#   chosen.csv    has the winner as its baseline. The step's best config is the one that is faster by
#                 verdict, with the largest lower bound; without one, the one with the lowest ratio.
#   compare.csv   has the levels that do not measure bandwidth (trial, training). There the winner is
#                 the config that wins most often in chosen.csv, or the baseline if it was not tried.
# Of several runs of a step the one with the most contrasts is drawn; of equal ones, the latest.

BEGIN {
    split("synthetic step trial training", level_names, " ")
    split("synthetic steps,replayed steps,trials inside a job,trainings", level_words, ",")
}
FNR == 1 { header(); chosen = FILENAME ~ /chosen\.csv$/; next }
{ csv($0, f) }
get("platform") != folder || num("ratio") == "" { next }
chosen && get("mode") == "overlapped" { contrast(); next }
!chosen && get("level") ~ /^tr(ial|aining)$/ { contrast() }

# The parameters of the step: without those of its config.
function step_params(    n, i, word, text) {
    n = split(get("params"), word, " ")
    for (i = 1; i <= n; i++)
        if (word[i] !~ /^(mode|config|algorithm|protocol|ctas|policy|memory|bucket_cap|bucket_first|size)=/)
            text = text " " word[i]
    return get("level") ~ /^tr/ ? "" : text
}

function contrast(    step, i) {
    step = get("level") SUBSEP get("workload") SUBSEP get("label") SUBSEP num("size_B") SUBSEP step_params()
    if (!(step in rows_of)) {
        rows_of[step] = 0
        steps[++n_steps] = step
    }
    i = ++n
    run[i] = get("run_id"); of[i] = step; config[i] = get("config"); baseline[i] = get("baseline")
    ratio[i] = num("ratio") + 0; low[i] = bound("ratio_low", ratio[i]) + 0; high[i] = bound("ratio_high", ratio[i]) + 0
    verdict[i] = get("verdict")
    rows_of[step]++
    if (++rows[step, run[i]] > most[step] || (rows[step, run[i]] == most[step] && run[i] > drawn[step])) {
        most[step] = rows[step, run[i]]
        drawn[step] = run[i]
    }
    if (chosen && !((run[i], step) in counted)) {
        counted[run[i], step] = 1
        wins[baseline[i]]++
    }
}

function usual_winner(    c, winner) {
    for (c in wins)
        if (winner == "" || wins[c] > wins[winner] || (wins[c] == wins[winner] && c < winner))
            winner = c
    return winner
}

# A lower ratio is a larger loss of the baseline. A verdict comes first; the same operation says nothing.
function rank(i) { return verdict[i] == "faster" ? high[i] - 1e6 : verdict[i] == "same operation" ? 1e6 : ratio[i] }

function best_of(step, winner,    i, best) {
    for (i = 1; i <= n; i++) {
        if (of[i] != step || run[i] != drawn[step])
            continue
        if (step ~ /^tr/ && config[i] == winner)
            return i
        if (!best || rank(i) < rank(best))
            best = i
    }
    return best
}

# ---- in words

function bytes_text(b) {
    return b % 1073741824 == 0 ? b / 1073741824 " GiB" : b % 1048576 == 0 ? b / 1048576 " MiB" : \
        b >= 1048576 ? sprintf("%.0f MiB", b / 1048576) : b % 1024 == 0 ? b / 1024 " KiB" : b " B"
}

# Parameters in which the steps of a section differ, or all with a number of GEMMs or buckets.
function step_words(step,    part, n, i, word, key, text) {
    split(step, part, SUBSEP)
    text = part[4] > 0 ? bytes_text(part[4]) : part[3] != "" ? part[3] : part[1] == "training" ? "job" : "step"
    n = split(part[5], word, " ")
    for (i = 1; i <= n; i++) {
        key = word[i]
        sub(/=.*/, "", key)
        sub(/.*=/, "", word[i])
        if (key == "gemms" && part[1] == "step")
            continue # a replayed step has its own
        if (key == "gemms")
            text = text ", " word[i] (word[i] == 1 ? " GEMM" : " GEMMs")
        else if (key == "collective")
            text = text ", " word[i]
        else if (key == "launch" || values[group_of(step), key] > 1)
            text = text ", " key " " word[i]
    }
    return text
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

function heading_of(group, l,    part) {
    split(group, part, SUBSEP)
    return level_words[l] ((group in issue && part[1] != "step") ? issue[group] : part[3] == "" || l > 2 ? "" : ", " part[3])
}

# Synthetic first, then the levels that say more; in a group by size, then as measured.
function in_order(a, b,    x, y) {
    split(a, x, SUBSEP)
    split(b, y, SUBSEP)
    if (level_at[x[1]] != level_at[y[1]])
        return level_at[x[1]] < level_at[y[1]]
    if (x[2] SUBSEP x[3] != y[2] SUBSEP y[3])
        return x[2] SUBSEP x[3] < y[2] SUBSEP y[3]
    return x[4] + 0 <= y[4] + 0
}

function write_step(step, winner,    i, b, part) {
    i = best_of(step, winner)
    if (!i || verdict[i] == "same operation")
        return
    split(step, part, SUBSEP)
    if (group_of(step) != group) {
        group = group_of(step)
        y += n_groups ? 1.3 : 0.9
        headings = headings ", " quote(heading_of(group, level_at[part[1]]))
        at = at ", " y
        n_groups++
    }
    y++
    drawn_rows++
    # Against its baseline, the tried winner of a trial is the config of the row.
    b = part[1] ~ /^tr/ && config[i] == winner
    text = text sprintf("%g %.9g %.9g %.9g %d\n", y, b ? ratio[i] : 1 / ratio[i], b ? low[i] : 1 / high[i], \
        b ? high[i] : 1 / low[i], verdict[i] != "inconclusive")
    names = names ", " quote(step_words(step))
    pairs = pairs ", " quote(b ? config[i] " → " baseline[i] : baseline[i] " → " config[i])
    gsub(/bucket_cap=/, "cap ", pairs)
    places = places ", " y
}

END {
    stop_if_stopped()
    for (i in level_names)
        level_at[level_names[i]] = i
    for (i = 1; i <= n_steps; i++) {
        count_values(steps[i])
        for (j = i; j > 1 && !in_order(steps[j - 1], steps[j]); j--) {
            step = steps[j]; steps[j] = steps[j - 1]; steps[j - 1] = step
        }
    }
    winner = usual_winner()
    for (i = 1; i <= n_steps; i++)
        write_step(steps[i], winner)
    if (!drawn_rows) {
        names = pairs = ", ''"
        places = ", 1"
        headings = ", 'no step was compared yet'"
        at = ", 0.9"
        text = "1 1 1 1 2\n"
        y = drawn_rows = n_groups = 1
    }
    # A job alone measures no bandwidth: what is drawn is what its baseline loses.
    printf "kept = %s\n", quote(winner == "" && n_steps ? "baseline" : "highest bandwidth")
    printf "platform = %s\nworkload = \"\"\ndetail = \"\"\nrows = %d\ngroups = %d\nlast = %g\n", quote(folder), drawn_rows, n_groups, y
    printf "array label[%d] = [%s]\narray pair[%d] = [%s]\narray place[%d] = [%s]\n", drawn_rows, substr(names, 3), \
        drawn_rows, substr(pairs, 3), drawn_rows, substr(places, 3)
    printf "array heading[%d] = [%s]\narray heading_at[%d] = [%s]\n", n_groups, substr(headings, 3), n_groups, substr(at, 3)
    printf "$lost << EOD\n%sEOD\n", text
}
