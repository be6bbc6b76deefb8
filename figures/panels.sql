-- SPDX-License-Identifier: Apache-2.0
--
-- What there is to draw of one platform and workload (:of, "P/W"): its curves against size, and all
-- lines of the panels (figures/draw). Other figures than curves are in steps.sql and verdicts.sql. The
-- runs that stand are drawn; jobs share a section, and of a cell of two jobs the later one is drawn.
-- :configs, if not empty, are the configs to draw, with commas.
--
-- A panel holds one curve (bar, line) a config. Parameters that take several values beside `size`
-- are axes; each combination of their values is a panel of its own. So is each size of a training
-- step, up to 2; of more sizes those are drawn where some config gains most on the first one.
CREATE TEMP TABLE drawn_run AS
SELECT run, row_number() OVER (ORDER BY sort) AS nth
FROM run JOIN stamp USING (run) JOIN standing USING (run)
WHERE platform || '/' || workload = :of;

CREATE TEMP TABLE wanted AS
SELECT DISTINCT config
FROM (SELECT config FROM summary UNION SELECT config FROM compare UNION SELECT config FROM iteration)
WHERE :configs = ''
    OR config IN (
            SELECT value FROM json_each('[' || replace(json_quote(:configs), ',', '","') || ']')
        );

-- `i` is the place of the first measurement, `at` that of the last.
CREATE TEMP TABLE cell AS
SELECT *, coalesce(ci_low_s, median_s) AS low, coalesce(ci_high_s, median_s) AS high, first AS i
FROM (
    SELECT *, min(at) OVER c AS first, max(at) OVER c AS last
    FROM (
        SELECT s.*, row_number() OVER (ORDER BY nth, s.rowid) AS at
        FROM summary s JOIN drawn_run USING (run)
        WHERE median_s IS NOT NULL AND config IN (SELECT config FROM wanted)
    )
    WINDOW c AS (PARTITION BY label, cell_id)
)
WHERE at = last;

CREATE TEMP TABLE iterations AS
SELECT *, first AS i, coalesce(overlapped_ci_low_s, overlapped_s) AS low,
    coalesce(overlapped_ci_high_s, overlapped_s) AS high
FROM (
    SELECT *, min(at) OVER c AS first, max(at) OVER c AS last
    FROM (
        SELECT t.*, row_number() OVER (ORDER BY nth, t.rowid) AS at
        FROM iteration t JOIN drawn_run USING (run)
        WHERE overlapped_s IS NOT NULL AND config IN (SELECT config FROM wanted)
    )
    WINDOW c AS (PARTITION BY label, config, ranks, nodes, by_name(params))
)
WHERE at = last;

-- Two rows of one run are launches of two kinds: the one with more of them is drawn.
CREATE TEMP TABLE contrast AS
SELECT *
FROM (
    SELECT *, min(at) OVER c AS i,
        row_number() OVER (c ORDER BY nth DESC, coalesce(launches, 0) DESC, at) AS rank,
        CASE verdict
            WHEN 'faster' THEN 1
            WHEN 'slower' THEN 2
            WHEN 'equivalent' THEN 3
            WHEN 'inconclusive' THEN 4
            WHEN 'same operation' THEN 5
            ELSE ''
        END AS code
    FROM (
        SELECT c.*, nth, row_number() OVER (ORDER BY nth, c.rowid) AS at
        FROM compare c JOIN drawn_run USING (run)
        WHERE config IN (SELECT config FROM wanted)
    )
    WINDOW c AS (PARTITION BY label, mode, config, size_B, by_name(params))
)
WHERE rank = 1;

-- ---- axes: parameters that differ between cells of one config, mode and size, and the collective

CREATE TEMP TABLE thing AS
WITH RECURSIVE thing(kind, i, params) AS (
    SELECT 'cell', i, by_name(params) || ' ranks=' || ranks || ' nodes=' || nodes FROM cell
    UNION ALL
    SELECT 'iteration', i, by_name(params) || ' ranks=' || ranks || ' nodes=' || nodes FROM iterations
    UNION ALL
    SELECT 'contrast', contrast.i, by_name(contrast.params) || ' ranks=' || ranks || ' nodes=' || nodes
    FROM contrast
        JOIN (SELECT run_id, ranks, nodes, min(i) FROM cell GROUP BY run_id) USING (run_id)
)
SELECT * FROM thing;

CREATE TEMP TABLE word AS
SELECT kind, i, key AS nth, value AS word, substr(value, 1, instr(value || '=', '=') - 1) AS key
FROM thing, json_each('[' || replace(json_quote(params), ' ', '","') || ']')
WHERE value <> '';

CREATE TEMP TABLE axis AS
SELECT key
FROM word
    JOIN (
        SELECT i, label, mode, config, size_B,
            count(*) OVER (PARTITION BY label, mode, config, size_B) AS cells
        FROM cell
    ) USING (i)
WHERE kind = 'cell' AND key <> 'size'
GROUP BY label, mode, config, size_B, key
HAVING count(DISTINCT word) > 1 OR count(*) < cells
UNION
SELECT 'collective';

CREATE TEMP TABLE axes AS
SELECT kind, i,
    coalesce(group_concat(CASE WHEN key IN (SELECT key FROM axis) THEN word END, ' '), '') AS axes
FROM (SELECT * FROM word ORDER BY kind, i, nth)
GROUP BY kind, i;

-- ---- panels: the place of their first cell, iteration or contrast is their number

CREATE TEMP TABLE point AS
SELECT cell.*, axes, min(i) OVER (PARTITION BY label, mode, axes) AS p,
    min(i) OVER (PARTITION BY label, mode, axes, config) AS s_first,
    row_number() OVER (PARTITION BY label, mode, axes, config, size_B ORDER BY i DESC) AS rank
FROM cell JOIN axes USING (i)
WHERE kind = 'cell';

CREATE TEMP TABLE series AS
SELECT p, config, min(i) AS first, max(size_B) AS largest, count(DISTINCT size_B) AS sizes,
    row_number() OVER (PARTITION BY p ORDER BY min(i)) AS s
FROM point
GROUP BY p, config;

CREATE TEMP TABLE member AS
SELECT iterations.*, axes, min(i) OVER step AS p, row_number() OVER (step ORDER BY i) AS s,
    count(*) OVER step AS members
FROM iterations JOIN axes USING (i)
WHERE kind = 'iteration'
WINDOW step AS (PARTITION BY label, size_B, axes);

CREATE TEMP TABLE gain AS
SELECT p, row_number() OVER (PARTITION BY label, axes ORDER BY gain DESC, p) AS rank
FROM (
    SELECT p, label, axes,
        CASE
            WHEN max(CASE s WHEN 1 THEN overlapped_s END) > 0
                THEN 1 - min(overlapped_s) / max(CASE s WHEN 1 THEN overlapped_s END)
            ELSE 0
        END AS gain
    FROM member
    GROUP BY p
);

CREATE TEMP TABLE v AS
SELECT contrast.*, axes, min(i) OVER (PARTITION BY label, mode, baseline, axes) AS p
FROM contrast JOIN axes USING (i)
WHERE kind = 'contrast'
    AND (mode = 'overlapped' OR NOT EXISTS (SELECT * FROM iterations))
    AND level IS NOT 'price'; -- its arms are no settings

CREATE TEMP TABLE size_words AS
SELECT size_B,
    'size='
        || CASE
            WHEN size_B % 1073741824 = 0 THEN (size_B / 1073741824) || 'GiB'
            WHEN size_B % 1048576 = 0 THEN (size_B / 1048576) || 'MiB'
            WHEN size_B % 1024 = 0 THEN (size_B / 1024) || 'KiB'
            ELSE size_B || 'B'
        END AS size
FROM (SELECT size_B FROM cell UNION SELECT size_B FROM iterations);

CREATE TEMP TABLE contended AS
SELECT p, label,
    CASE
        WHEN instr(' ' || axes || ' ', ' contention=')
            THEN trim(replace(' ' || axes || ' ', ' contention=' || level || ' ', ' '))
        ELSE axes
    END AS others,
    level
FROM (
    SELECT *,
        CASE
            WHEN instr(' ' || axes, ' contention=')
                THEN substr(
                    axes, instr(' ' || axes, ' contention=') + 11,
                    instr(substr(axes || ' ', instr(' ' || axes, ' contention=') + 11), ' ') - 1)
            ELSE ''
        END AS level
    FROM (SELECT DISTINCT p, label, axes FROM point)
)
WHERE EXISTS (SELECT * FROM axis WHERE key = 'contention');

CREATE TEMP TABLE digit AS
WITH RECURSIVE digit(d) AS (SELECT 0 UNION ALL SELECT d + 1 FROM digit WHERE d < 63)
SELECT * FROM digit;

-- ---- curves against size, and the features of transitions.csv

-- The iteration of a cell, with compute alone measured. A panel shows shares of it where each of
-- its cells has one, otherwise times: groups (sizes, numbers of GEMMs) run at different clocks,
-- because the GPU's power is capped.
CREATE TEMP TABLE dot AS
SELECT p, s, q.i, q.size_B AS size, q.label, q.mode, q.config, q.params, q.ranks, q.nodes, median_s,
    q.low, q.high, coalesce(busbw_Bps, 0) AS bus, limit_Bps, q.ran,
    CASE WHEN compute_s > 0 THEN compute_s END AS of_compute, overlapped_s / compute_s AS share,
    t.low / compute_s AS share_low, t.high / compute_s AS share_high, c.code, c.ratio AS v_ratio,
    ratio_low, ratio_high, c.baseline, coalesce(c.floor, 0) AS floor
FROM point q
    JOIN series USING (p, config)
    LEFT JOIN iterations t
        ON t.label = q.label
            AND t.config = q.config
            AND t.ranks = q.ranks
            AND t.nodes = q.nodes
            AND t.params = q.params
            AND t.run_id = q.run_id
    LEFT JOIN contrast c
        ON c.label = q.label
            AND c.mode = q.mode
            AND c.config = q.config
            AND c.size_B = q.size_B
            AND c.params = q.params
            AND c.run_id = q.run_id
WHERE q.rank = 1 AND p IN (SELECT p FROM series WHERE sizes >= 3);

CREATE TEMP TABLE curve AS
SELECT p, max(s) AS n, count(of_compute) = count(*) AS shares,
    coalesce(max(CASE config WHEN 'auto' THEN s END), 1) AS worded,
    CASE WHEN max(s) > 1 THEN max(CASE config WHEN 'auto' THEN s END) END AS base
FROM dot
GROUP BY p;

-- Best of a size, by the verdicts: of the baseline, each other config is slower; another config is
-- faster, and its ratio to the baseline lies below the others' with the whole interval. A config
-- that ran what the baseline ran is the baseline.
CREATE TEMP TABLE drawn AS
SELECT d.*, worded, n, CASE WHEN shares THEN share ELSE median_s END AS y,
    CASE WHEN shares THEN share_low ELSE low END AS y_low,
    CASE WHEN shares THEN share_high ELSE high END AS y_high,
    CASE WHEN code IS NULL THEN n > 1 ELSE code = 1 END
        AND NOT EXISTS (
                SELECT *
                FROM dot o
                WHERE o.p = d.p
                    AND o.size = d.size
                    AND o.s <> d.s
                    AND o.code IS NOT 5
                    AND CASE
                            WHEN d.code IS NULL THEN o.code IS NOT 2
                            WHEN o.code IS NULL THEN o.config <> d.baseline
                            ELSE coalesce(d.ratio_high >= o.ratio_low, 1)
                        END
            ) AS best,
    (SELECT b.i FROM dot b WHERE b.p = d.p AND b.s = base AND b.size = d.size) AS b_i
FROM dot d JOIN curve USING (p);

-- Time over that of the baseline, with its interval: from the same blocks if they were compared. Of
-- the baseline, the interval is the A/A floor.
CREATE TEMP TABLE compared AS
SELECT d.p, d.s, d.size,
    CASE
        WHEN b.i IS NULL THEN 'NaN NaN NaN'
        WHEN b.i = d.i THEN '1 ' || (1 / (1 + floors)) || ' ' || (1 + floors)
        WHEN d.v_ratio IS NOT NULL AND d.baseline = b.config
            THEN d.v_ratio || ' ' || coalesce(d.ratio_low, d.v_ratio) || ' '
                || coalesce(d.ratio_high, d.v_ratio)
        ELSE (d.median_s / b.median_s) || ' ' || (d.median_s / b.median_s) || ' '
            || (d.median_s / b.median_s)
    END AS ratios
FROM drawn d
    LEFT JOIN dot b ON b.i = d.b_i AND b.p = d.p
    LEFT JOIN (
        SELECT p, size, coalesce(max(CASE s WHEN last THEN floor END), 0) AS floors
        FROM (
            SELECT *, max(CASE WHEN code IS NOT NULL THEN s END) OVER (PARTITION BY p, size) AS last
            FROM dot
        )
        GROUP BY p, size
    ) f ON f.p = d.p AND f.size = d.size;

-- Which curves have a colour: at most 4; auto, the best at the largest size, and those that are
-- best at most sizes, by verdict before by median.
CREATE TEMP TABLE winner AS
SELECT p, s, size, size = max(size) OVER (PARTITION BY p) AS is_largest,
    row_number() OVER (PARTITION BY p, size ORDER BY y, s) AS rank
FROM drawn;

CREATE TEMP TABLE lead AS
SELECT p, s, row_number() OVER (PARTITION BY p ORDER BY points DESC, s) <= 4 AS leads
FROM (
    SELECT p, s,
        (max(config) = 'auto') * 1e9 + 1000 * sum(best)
            + total(CASE WHEN rank > 1 THEN 0 WHEN is_largest THEN 1e6 ELSE 1 END) AS points
    FROM drawn JOIN winner USING (p, s, size)
    GROUP BY p, s
);

-- `rest` is never empty: gnuplot evaluates the first index of an empty loop.
CREATE TEMP TABLE leads AS
WITH RECURSIVE leads(p, line) AS (
    SELECT p,
        printf(
            'n_lead = %d; n_rest = %d; array lead[%d] = [%s]; array rest[%d] = [%s]', sum(leads),
            sum(NOT leads), sum(leads), group_concat(CASE WHEN leads THEN s END, ', '),
            max(1, sum(NOT leads)),
            coalesce(group_concat(CASE WHEN NOT leads THEN s END, ', '), '1'))
    FROM (SELECT * FROM lead ORDER BY p, s)
    GROUP BY p
)
SELECT * FROM leads;

-- What NCCL ran in the curve of auto: a line for each stretch of sizes.
CREATE TEMP TABLE stretch AS
SELECT p, min(size) AS low, max(size) AS high, kernel
FROM (
    SELECT *, sum(changed) OVER (PARTITION BY p ORDER BY size) AS g
    FROM (
        SELECT p, size, kernel,
            kernel IS NOT lag(kernel) OVER (PARTITION BY p ORDER BY size) AS changed
        FROM (
            SELECT p, size,
                substr(coalesce(ran, ''), 1, instr(coalesce(ran, '') || ' ', ' ') - 1) AS kernel
            FROM drawn
            WHERE s = worded
        )
    )
)
WHERE kernel <> ''
GROUP BY p, g;

-- Marks on every curve, and words on one. With a single replicate nothing is confirmed: features of
-- one curve are then drawn with a question mark.
CREATE TEMP TABLE feature AS
SELECT t.*, t.rowid AS place, kind IN ('dip', 'fall', 'spike') AS at_size,
    CASE kind
        WHEN 'switch' THEN 1
        WHEN 'dip' THEN 3
        WHEN 'fall' THEN 3
        ELSE 4
    END AS code,
    substr(reason, 1, instr(reason || '/', '/') - 1) AS was,
    ltrim(substr(reason, instr(reason, ' to ') + 4)) AS after
FROM transitions t
WHERE platform || '/' || workload = :of;

CREATE TEMP TABLE mark AS
SELECT d.p, d.s, f.place, f.size_B AS size, f.code, d.s = worded AS mine, worded,
    CASE WHEN at_size THEN f.size_B ELSE from_B END AS from_B,
    CASE WHEN at_size THEN f.size_B ELSE to_B END AS to_B,
    CASE kind
        WHEN 'spike' THEN printf('time ×%.2g', 1 + change)
        WHEN 'dip' THEN printf('bandwidth −%.0f%%', -100 * change)
        WHEN 'fall' THEN printf('bandwidth −%.0f%%', -100 * change)
        WHEN 'switch'
            THEN CASE
                WHEN NOT instr(reason, ' to ') THEN 'switch'
                ELSE 'to '
                    || CASE
                        WHEN substr(after, 1, instr(after || '/', '/') - 1) = was
                            THEN substr(
                                after, instr(after, '/') + 1,
                                instr(after || ' ', ' ') - instr(after, '/') - 1)
                        ELSE substr(after, 1, instr(after || ' ', ' ') - 1)
                    END
            END
    END
        || CASE f.verdict WHEN 'unconfirmed' THEN '?' ELSE '' END AS words
FROM (SELECT *, row_number() OVER (PARTITION BY p, s ORDER BY size) AS nth FROM drawn) d
    JOIN feature f
        ON nth = 1
            AND f.label = d.label
            AND coalesce(f.mode, '') = coalesce(d.mode, '')
            AND f.config = d.config
            AND f.ranks = d.ranks
            AND f.nodes = d.nodes
            AND f.params = (
                    SELECT coalesce(group_concat(w, ' '), '')
                    FROM (
                        SELECT value AS w
                        FROM json_each('[' || replace(json_quote(d.params), ' ', '","') || ']')
                        WHERE value NOT GLOB 'size=*' AND value NOT GLOB 'config=*'
                        ORDER BY key
                    )
                )
WHERE d.s = worded OR f.verdict <> 'unconfirmed';

-- The value at a size between two measured ones: on the line drawn.
CREATE TEMP TABLE marked AS
SELECT m.*,
    CASE
        WHEN a.y > 0 AND b.y > 0
            THEN CASE
                WHEN from_B = to_B THEN a.y
                ELSE exp(
                    ln(a.y) + ln(b.y / a.y) * ln(1. * m.size / from_B) / ln(1. * to_B / from_B))
            END
    END AS time,
    CASE
        WHEN a.bus > 0 AND b.bus > 0
            THEN CASE
                WHEN from_B = to_B THEN a.bus
                ELSE exp(
                    ln(a.bus)
                        + ln(b.bus / a.bus) * ln(1. * m.size / from_B) / ln(1. * to_B / from_B))
            END
    END AS bus
FROM mark m
    LEFT JOIN drawn a ON a.p = m.p AND a.s = m.s AND a.size = from_B
    LEFT JOIN drawn b ON b.p = m.p AND b.s = m.s AND b.size = to_B;

CREATE TEMP TABLE curve_text AS
WITH RECURSIVE curve_text(p, part, i, k, line) AS (
    SELECT p, 10, 0, 0,
        printf(
            'of_what = %s; shares = %d; isolated = %d; limit = %s; n = %d',
            CASE mode WHEN 'overlapped' THEN '''iteration''' ELSE '''operation''' END, shares,
            ' ' || mode || ' ' || replace(replace(params, '=', ' '), '/', ' ')
                || ' ' GLOB '* isolated *'
            OR ' ' || mode || ' ' || replace(replace(params, '=', ' '), '/', ' ')
                    || ' ' GLOB '* L_iso *',
            CASE WHEN limit_Bps > 0 THEN limit_Bps ELSE 'NaN' END, n)
    FROM dot JOIN curve USING (p)
    WHERE i = p
    UNION ALL
    SELECT p, 11, 0, 0, line FROM leads
    UNION ALL
    SELECT p, 12, 0, 0, '$strip << EOD' FROM curve
    UNION ALL
    SELECT p, 13, 0, low, low || ' ' || high || ' "' || replace(kernel, '"', '''') || '"'
    FROM stretch
    UNION ALL
    SELECT p, 13, 0, 0, 'NaN NaN ""' FROM curve WHERE p NOT IN (SELECT p FROM stretch)
    UNION ALL
    SELECT p, 14, 0, 0, 'EOD' FROM curve
    UNION ALL
    SELECT p, 15, 0, 0,
        printf(
            'strips = %d; strip_of = %s', (SELECT count(*) FROM stretch WHERE stretch.p = curve.p),
            quote(config))
    FROM curve JOIN series USING (p)
    WHERE s = worded
    UNION ALL
    SELECT p, 16, 0, 0, '$baseline << EOD' FROM curve
    UNION ALL
    SELECT p, 17, 0, size,
        size || ' ' || median_s || ' ' || CASE WHEN bus > 0 THEN bus ELSE 'NaN' END
    FROM drawn
    WHERE s = worded
    UNION ALL
    SELECT p, 18, 0, 0, 'EOD' FROM curve
    UNION ALL
    SELECT p, 19, 0, 0,
        printf(
            'values = %d; baseline_at = %d',
            (SELECT count(*) FROM drawn WHERE drawn.p = curve.p AND s = worded), base)
    FROM curve
    UNION ALL
    SELECT p, 20, 0, 0,
        'c_size = 1; c_time = 2; c_time_low = 3; c_time_high = 4; c_bus = 5; c_bus_low = 6; c_bus_high = 7; c_best = 8; c_ratio = 9; c_ratio_low = 10; c_ratio_high = 11'
    FROM curve
    UNION ALL
    SELECT p, 21, 0, 0, '$curve << EOD' FROM curve
    UNION ALL
    SELECT p, 22, s, size,
        size || ' ' || y || ' ' || y_low || ' ' || y_high || ' '
            || CASE
                WHEN bus > 0
                    THEN bus || ' ' || (bus * median_s / high) || ' ' || (bus * median_s / low)
                ELSE 'NaN NaN NaN'
            END
            || ' ' || best || ' ' || ratios
    FROM drawn JOIN compared USING (p, s, size)
    UNION ALL
    SELECT DISTINCT p, 22, s, blank, ''
    FROM drawn, (SELECT -2 AS blank UNION ALL SELECT -1)
    WHERE s > 1
    UNION ALL
    SELECT p, 23, 0, 0, 'EOD' FROM curve
    UNION ALL
    SELECT p, 24, 0, 0, '$marks << EOD' FROM curve
    UNION ALL
    SELECT p, 25, s, place,
        size || ' ' || coalesce(time, 'NaN') || ' ' || coalesce(bus, 'NaN') || ' ' || code || ' "'
            || CASE WHEN mine THEN replace(words, '"', '''') ELSE '' END || '" ' || mine
    FROM marked
    UNION ALL
    SELECT p, 26, 0, 0, 'EOD' FROM curve
    UNION ALL
    SELECT p, 27, 0, 0,
        printf(
            'marks = %d; worded = %d; worded_of_ratios = %d', count(m.p),
            total(mine AND time IS NOT NULL), total(mine AND time IS NOT NULL AND code > 2))
    FROM curve LEFT JOIN marked m USING (p)
    GROUP BY p
)
SELECT * FROM curve_text;

-- ---- other figures

.read figures/steps.sql
.read figures/verdicts.sql

-- ---- panels: which there are, and their titles

-- label_of: in the title, in place of the label
CREATE TEMP TABLE panel AS
WITH RECURSIVE panel(
    kind, p, size_B, workload, label, label_of, mode, axes, suffix, ranks, nodes, scripts
) AS (
    SELECT 'curves', p, 0, workload, label, label, mode, axes, '', ranks, nodes,
        'latency'
            || CASE
                WHEN p IN (SELECT p FROM point WHERE rank = 1 AND busbw_Bps > 0) THEN ',bandwidth'
                ELSE ''
            END
    FROM point
    WHERE i = p
        AND (mode = 'overlapped' OR NOT EXISTS (SELECT * FROM iterations))
        AND p IN (SELECT p FROM series WHERE sizes >= 3 AND largest > 0)
        AND workload <> 'trial' -- its sizes are those of different jobs
    UNION ALL
    SELECT 'step', p, size_B, workload, label, label, '',
        CASE
            WHEN (SELECT count(DISTINCT size_B) FROM iterations) > 1 THEN trim(size || ' ' || axes)
            ELSE axes
        END,
        '', ranks, nodes,
        'decomposition,ranks' || CASE WHEN p IN (SELECT p FROM distributed) THEN ',ecdf' ELSE '' END
    FROM member JOIN gain USING (p) LEFT JOIN size_words USING (size_B)
    WHERE s = 1 AND rank <= 2
    UNION ALL
    SELECT 'ctas', p, size_B, workload, label, label, '', trim(size || ' ' || axes), '-by', ranks,
        nodes, 'ctas'
    FROM member JOIN gain USING (p) LEFT JOIN size_words USING (size_B)
    WHERE s = 1 AND rank <= 2 AND p IN (SELECT p FROM of_ctas GROUP BY p HAVING count(*) >= 3)
    UNION ALL
    SELECT 'contention', p, sized.size_B, workload, point.label,
        CASE point.label WHEN 'contention' THEN '' ELSE point.label END, mode,
        trim(others || ' ' || size), '-by', ranks, nodes, 'contention'
    FROM contended
        JOIN point USING (p)
        JOIN (
            SELECT p, s, size_B
            FROM series JOIN point USING (p, config)
            WHERE s = 1
            GROUP BY p, size_B
        ) sized USING (p)
        LEFT JOIN size_words ON size_words.size_B = sized.size_B
    WHERE i = p
        AND level = 'none'
        AND p IN (SELECT max(p) FROM contended WHERE level = 'none' GROUP BY label, others)
        AND (point.label, others) IN (
                SELECT label, others FROM contended GROUP BY 1, 2 HAVING count(*) >= 3
            )
    UNION ALL
    SELECT 'forest', p, 0, v.workload, v.label, v.label, v.mode, axes, '-ratios', ranks, nodes,
        CASE WHEN p IN (SELECT p FROM forest WHERE ratio_low IS NOT NULL) THEN 'forest' ELSE '-' END
    FROM v JOIN (SELECT run_id, ranks, nodes, min(i) FROM cell GROUP BY run_id) USING (run_id)
    WHERE i = p
    UNION ALL
    SELECT 'map', p, 0, v.workload, v.label, v.label, v.mode, axes, '-sizes', ranks, nodes,
        'verdict_map'
    FROM v JOIN (SELECT run_id, ranks, nodes, min(i) FROM cell GROUP BY run_id) USING (run_id)
    WHERE i = p AND p IN (SELECT p FROM v GROUP BY p HAVING count(DISTINCT size_B) > 1)
)
SELECT * FROM panel;

-- The title: the parameters that its neighbours have with other values. The axis names the time
-- that was measured.
CREATE TEMP TABLE title_word AS
SELECT kind, p, size_B, place, is_step, label_of,
    CASE
        WHEN key = 'size' AND unit = 'KiB' AND value + 0 >= 10240
            THEN printf('%.0f MiB', value / 1024.)
                || CASE WHEN is_step THEN ' of gradient' ELSE '' END
        WHEN key = 'size'
            THEN substr(value, 1, length(value) - length(unit)) || ' ' || unit
                || CASE WHEN is_step THEN ' of gradient' ELSE '' END
        WHEN key = 'gemms'
            THEN CASE value WHEN '1' THEN 'beside one GEMM' ELSE 'beside ' || value || ' GEMMs' END
        WHEN key = 'buffers' THEN value || ' buffers'
        WHEN key = 'contention' THEN replace(value, 'none', 'no') || ' contention'
        WHEN key IN ('collective', value) THEN value
        ELSE key || ' ' || value
    END AS word,
    key
FROM (
    SELECT panel.kind, p, size_B, label_of, w.key AS place, axes GLOB '*gemms=*' AS is_step,
        substr(w.value, 1, instr(w.value || '=', '=') - 1) AS key,
        substr(w.value, instr(w.value, '=') + 1) AS value,
        ltrim(substr(w.value, instr(w.value, '=') + 1), '0123456789.') AS unit
    FROM panel, json_each(
        '['
            || replace(
                replace(
                    json_quote(
                        CASE WHEN mode = 'overlapped' AND axes GLOB '*gemms=*' THEN '' ELSE mode END
                            || ' ' || axes),
                    '/', ' '),
                ' ', '","')
            || ']') w
)
WHERE value NOT IN ('T_ss', 'L_iso', '');

CREATE TEMP TABLE title AS
SELECT kind, p, size_B,
    label_of || CASE label_of WHEN '' THEN '' ELSE ': ' END
        || CASE WHEN words GLOB 'beside*' THEN 'gradient ' ELSE '' END || words AS title
FROM (
    SELECT kind, p, size_B, label_of,
        ltrim(group_concat(CASE key WHEN 'gemms' THEN ' ' ELSE ', ' END || word, ''), ', ') AS words
    FROM (SELECT * FROM title_word ORDER BY kind, p, size_B, place)
    GROUP BY kind, p, size_B
);

-- ---- the look of a config: one colour, marker and dash in every figure (style.gp)

-- Black (1, 9 and 17) is the baseline's. Others take the first tone after a number from their
-- letters that the panel has not used, of a new colour while there is one.
CREATE TEMP TABLE named AS
WITH RECURSIVE named(kind, p, size_B, s, config) AS (
    SELECT 'curves', p, 0, s, config FROM series
    UNION ALL
    SELECT 'step', p, size_B, s, config FROM member
    UNION ALL
    SELECT 'contention', p, size_B, s, config FROM contention
)
SELECT * FROM named;

CREATE TEMP TABLE known AS
SELECT value AS config, key + 1 AS tone
FROM json_each(
    '["auto", "ring/LL", "ring/LL128", "ring/Simple", "tree/LL", "tree/LL128", "tree/Simple",
    "ctas=4", "-", "ctas=8", "ctas=16", "ctas=32", "ctas=2", "ctas=1", "Simple", "LL128", "-",
    "LL", "ring", "tree", "nvls", "ctas=64"]')
WHERE value <> '-';

CREATE TEMP TABLE unknown AS
SELECT kind, p, size_B, s,
    (
        SELECT
            total(
                instr('=/0123456789abcdefghijklmnopqrstuvwxyz', lower(substr(config, d + 1, 1)))
                    * (d + 1))
        FROM digit
        WHERE d < length(config)
    ) AS letters,
    row_number() OVER (PARTITION BY kind, p, size_B ORDER BY s) AS nth
FROM named
WHERE config NOT IN (SELECT config FROM known);

-- `used`: the tones of the panel so far, a JSON list whose last one was chosen.
CREATE TEMP TABLE chosen_tone AS
WITH RECURSIVE chosen_tone(kind, p, size_B, nth, used) AS (
    SELECT kind, p, size_B, 0, json_group_array(tone) FILTER (WHERE tone IS NOT NULL)
    FROM named LEFT JOIN known USING (config)
    GROUP BY kind, p, size_B
    UNION ALL
    SELECT c.kind, c.p, c.size_B, u.nth,
        (
            SELECT json_insert(c.used, '$[#]', t)
            FROM (SELECT d, CAST(u.letters + d AS INTEGER) % 24 + 1 AS t FROM digit WHERE d < 24)
            WHERE (t NOT IN (SELECT value FROM json_each(c.used)) OR json_array_length(c.used) >= 24)
                AND (t % 8 <> 1 OR json_array_length(c.used) >= 21)
                AND (
                    t % 8 NOT IN (SELECT 1 UNION SELECT value % 8 FROM json_each(c.used))
                    OR 8 = (
                        SELECT count(*)
                        FROM (SELECT 1 UNION SELECT value % 8 FROM json_each(c.used))))
            ORDER BY d
            LIMIT 1
        )
    FROM chosen_tone c
        JOIN unknown u
            ON u.kind = c.kind AND u.p = c.p AND u.size_B = c.size_B AND u.nth = c.nth + 1
)
SELECT kind, p, size_B, nth, json_extract(used, '$[#-1]') AS tone FROM chosen_tone WHERE nth;

CREATE TEMP TABLE tone AS
SELECT kind, p, size_B, s, tone FROM named JOIN known USING (config)
UNION ALL
SELECT kind, p, size_B, s, tone FROM chosen_tone JOIN unknown USING (kind, p, size_B, nth);

CREATE TEMP TABLE looks AS
SELECT kind, p, size_B, group_concat(quote(config), ', ') AS labels,
    group_concat(tone, ', ') AS tones, count(*) AS n
FROM (SELECT * FROM named JOIN tone USING (kind, p, size_B, s) ORDER BY kind, p, size_B, s)
GROUP BY kind, p, size_B;

-- ---- all lines

-- "@ SCRIPT FILE" begins a panel: what draws it (see figures/draw).
CREATE TEMP TABLE text AS
WITH RECURSIVE text(kind, p, size_B, part, i, k, line) AS (
    SELECT kind, p, size_B, 0, s.key, 0,
        '@ ' || s.value || ' ' || :platform || '/' || workload
            || CASE label WHEN '' THEN '' ELSE '-' || label END
            || CASE coalesce(mode, '') WHEN '' THEN '' ELSE '-' || mode END
            || CASE axes WHEN '' THEN '' ELSE '-' || axes END || suffix || '-' || s.value
    FROM panel, json_each('["' || replace(scripts, ',', '","') || '"]') s
    UNION ALL
    SELECT panel.kind, p, size_B, 1, 0, 0,
        printf(
            'platform = %s; workload = %s; detail = %s; ranks = %d; nodes = %d', quote(:platform),
            quote(workload), quote(coalesce(title, label_of)), ranks, nodes)
    FROM panel LEFT JOIN title USING (kind, p, size_B)
    UNION ALL
    SELECT kind, p, size_B, 2, 0, 0, 'array label[' || n || '] = [' || labels || ']' FROM looks
    UNION ALL
    SELECT kind, p, size_B, 3, 0, 0, 'array tone[' || n || '] = [' || tones || ']' FROM looks
    UNION ALL
    SELECT 'curves', p, 0, part, i, k, line FROM curve_text
    UNION ALL
    SELECT 'step', p, panel.size_B, part, i, k, line
    FROM step_text JOIN panel USING (p)
    WHERE kind = 'step'
    UNION ALL
    SELECT 'ctas', p, panel.size_B, part, i, k, line
    FROM ctas_text JOIN panel USING (p)
    WHERE kind = 'ctas'
    UNION ALL
    SELECT 'contention', p, size_B, part, i, k, line FROM contention_text
    UNION ALL
    SELECT kind, p, 0, part, i, k, line FROM verdict_text
)
SELECT * FROM text;

SELECT line
FROM text JOIN panel USING (kind, p, size_B)
WHERE scripts <> '-' -- nothing draws it
ORDER BY kind, p, size_B, part, i, k;
