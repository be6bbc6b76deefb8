# SPDX-License-Identifier: Apache-2.0
#
# A table read by the scripts beside this one: its line to fields, a field by its column's name, and
# text as gnuplot quotes it. Fields stand in f, the places of the columns in col.

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

# The line that names the columns.
function header(    i, n) {
    delete col
    n = csv($0, f)
    for (i = 1; i <= n; i++)
        col[f[i]] = i
}

function get(name) { return name in col ? f[col[name]] : "" }

# An end of an interval around `value`. One launch has no interval: it is drawn as wide as a point.
function bound(name, value) { return get(name) == "" ? value : get(name) }

function quote(text) {
    gsub(/["\\]/, "\\\\&", text)
    return "\"" text "\""
}
