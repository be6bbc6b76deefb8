# SPDX-License-Identifier: Apache-2.0
#
# A table read by the scripts beside this one: its line to fields, a field by its column's name, and
# text quoted for gnuplot. Fields stand in f, the places of the columns in col. Only num(), quote()
# and datum() may carry a field into a panel: gnuplot runs what it loads.

function csv(line, f,    n, part) {
    if (index(line, "\"") == 0)
        return split(line, f, ",")
    n = 0
    delete f
    while (1) {
        if (substr(line, 1, 1) == "\"") {
            match(line, /^"([^"]|"")*"/)
            part = substr(line, 2, RLENGTH - 2)
            gsub(/""/, "\"", part)
            line = substr(line, RLENGTH + 1)
        } else {
            match(line, /^[^,]*/)
            part = substr(line, 1, RLENGTH)
            line = substr(line, RLENGTH + 1)
        }
        f[++n] = part
        if (line == "")
            return n
        line = substr(line, 2)
    }
}

# Sizes of 2 GiB and more keep all their digits, printed and as the index of an array.
BEGIN { OFMT = CONVFMT = "%.12g" }

# The line that names the columns. Those of parameters, "param_size", are read in the order of their names:
# their order in a table depends on what else was recorded, and cells of two tables are compared by them.
function header(    i, j) {
    delete col
    n_columns = csv($0, f)
    n_params = 0
    for (i = 1; i <= n_columns; i++) {
        col[f[i]] = i
        if (f[i] !~ /^param_/)
            continue
        for (j = n_params++; j > 0 && param_name[j] > substr(f[i], 7); j--)
            param_name[j + 1] = param_name[j]
        param_name[j + 1] = substr(f[i], 7)
    }
}

function get(name) { return name in col ? f[col[name]] : name == "params" ? params_text() : "" }

# The parameters of the row, "gemms=4 size=8".
function params_text(    i, text, value) {
    for (i = 1; i <= n_params; i++) {
        value = f[col["param_" param_name[i]]]
        if (value != "")
            text = text (text == "" ? "" : " ") param_name[i] "=" value
    }
    return text
}

# A field that is a number, or empty; any other ends the script.
function num(name,    v) {
    v = get(name)
    if (v == "" || v ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/)
        return v
    printf "%s:%d: %s must be a number; make the tables again\n", FILENAME, FNR, name >"/dev/stderr"
    exit stopped = 1
}
# An exit in the middle still runs END: each END begins with this.
function stop_if_stopped() { if (stopped) exit 1 }

# An end of an interval around `value`. One launch has no interval: it is drawn as wide as a point.
function bound(name, value) { return num(name) == "" ? value : num(name) }

# A string of a gnuplot command. In double quotes gnuplot would run what stands between backquotes.
function quote(text) {
    gsub(/[\001-\037\177]/, " ", text)
    gsub(/'/, "''", text)
    return "'" text "'"
}
# A string in a datablock, which knows double quotes alone and no escapes.
function datum(text) {
    gsub(/[\001-\037\177]/, " ", text)
    gsub(/"/, "'", text)
    return "\"" text "\""
}

# What a row of wan.csv measured: the same in every recording of it, also by another version of wan_sync.
function wan_cell(    key) {
    key = get("platform") SUBSEP get("label") SUBSEP get("config") SUBSEP get("size_B") SUBSEP get("transport") SUBSEP \
        get("every") SUBSEP get("overlap") SUBSEP get("fragments")
    return key SUBSEP (++wan_nth[key, get("run_id")])
}
