-- SPDX-License-Identifier: Apache-2.0
--
-- In the middle of panels.sql: training steps, CTAs and contention.

-- ---- training steps: their parts, the order of configs alone and in the step, and samples

-- Cells of an iteration's config in each mode.
CREATE TEMP TABLE in_mode AS
SELECT m.p, m.s, q.mode, min(q.i) AS i
FROM member m
    JOIN point q
        ON q.config = m.config AND q.size_B = m.size_B AND q.run_id = m.run_id AND q.axes = m.axes
WHERE q.mode IN ('comm', 'sequential', 'overlapped')
GROUP BY m.p, m.s, q.mode;

CREATE TEMP TABLE of_mode AS
SELECT p, s, cell.*, c.ratio, c.code, c.baseline
FROM in_mode
    JOIN cell USING (i)
    LEFT JOIN contrast c
        ON c.label = cell.label
            AND c.mode = cell.mode
            AND c.config = cell.config
            AND c.size_B = cell.size_B
            AND c.params = cell.params
            AND c.run_id = cell.run_id;

-- The first config is none that ran the same operation as the baseline, whatever its time. Alone,
-- configs are in the order of their ratios to the baseline in the same blocks: chosen.csv
-- selects by them too. Without a ratio of each they stay in the order of their medians.
CREATE TEMP TABLE keyed AS
SELECT m.p, m.s, m.i, coalesce(a.code = 5, 0) AS again_comm, coalesce(o.code = 5, 0) AS again_time,
    coalesce(
        CASE a.code
            WHEN 5 THEN (SELECT b.comm_s FROM member b WHERE b.p = m.p AND b.config = a.baseline)
        END,
        m.comm_s, 0) AS key_comm,
    coalesce(
        CASE o.code
            WHEN 5
                THEN (SELECT b.overlapped_s FROM member b WHERE b.p = m.p AND b.config = o.baseline)
        END,
        m.overlapped_s) AS key_time,
    CASE WHEN a.code = 5 OR a.baseline IS NULL THEN 1 ELSE a.ratio END AS ratio,
    a.baseline IS NULL AS is_base
FROM member m
    LEFT JOIN of_mode a ON a.p = m.p AND a.s = m.s AND a.mode = 'comm'
    LEFT JOIN of_mode o ON o.p = m.p AND o.s = m.s AND o.mode = 'overlapped';

CREATE TEMP TABLE in_order AS
SELECT *,
    sum(is_base) OVER (PARTITION BY p) = 1
        AND count(ratio) OVER (PARTITION BY p) = count(*) OVER (PARTITION BY p) AS by_ratio
FROM keyed;

CREATE TEMP TABLE first AS
SELECT p, max(CASE rank_comm WHEN 1 THEN s END) AS comm,
    max(CASE rank_time WHEN 1 THEN s END) AS time
FROM (
    SELECT *,
        row_number() OVER (PARTITION BY p
            ORDER BY CASE WHEN by_ratio THEN ratio ELSE key_comm END, again_comm, s) AS rank_comm,
        row_number() OVER (PARTITION BY p ORDER BY key_time, again_time, s) AS rank_time
    FROM in_order
)
GROUP BY p;

CREATE TEMP TABLE based AS
SELECT p, min(s) AS base
FROM member
    JOIN (
        SELECT run_id, baseline, max(rowid)
        FROM compare
        WHERE platform || '/' || workload = :of
        GROUP BY run_id
    ) b USING (run_id)
WHERE config = b.baseline
GROUP BY p;

-- The verdict on one config against another, from compare.csv (against the baseline) and chosen.csv
-- (against the config that is fastest alone). A pair that shares no contrast has no verdict, and
-- none is derived for it.
CREATE TEMP TABLE pair AS
SELECT run_id, params, config, baseline, verdict
FROM (
    SELECT *,
        row_number() OVER (PARTITION BY run_id, params, config, baseline
            ORDER BY coalesce(launches, 0) DESC, chosen, place) AS rank
    FROM (
        SELECT run_id, params, config, baseline, verdict, launches, 0 AS chosen, rowid AS place
        FROM compare
        WHERE platform || '/' || workload = :of
        UNION ALL
        SELECT run_id, params, config, baseline, verdict, launches, 1, rowid
        FROM chosen
        WHERE platform || '/' || workload = :of
    )
)
WHERE rank = 1 AND verdict <> '';

CREATE TEMP TABLE mode_params AS
SELECT p, s, run_id, config, mode,
    CASE
        WHEN instr(params, 'mode=')
            THEN substr(params, 1, instr(params, 'mode=') + 4) || mode
                || ltrim(substr(params, instr(params, 'mode=') + 5), 'abcdefghijklmnopqrstuvwxyz')
        ELSE params
    END AS params
FROM member, (SELECT 'comm' AS mode UNION ALL SELECT 'overlapped');

-- 1 faster, 2 slower, 3 not shown to differ, 0 not compared
CREATE TEMP TABLE between_two AS
SELECT a.p, a.mode, a.s AS one, b.s AS other,
    coalesce(
        (
            SELECT CASE verdict WHEN 'faster' THEN 1 WHEN 'slower' THEN 2 ELSE 3 END
            FROM pair q
            WHERE q.run_id = a.run_id
                AND q.params = a.params
                AND q.config = a.config
                AND q.baseline = b.config
        ),
        (
            SELECT CASE verdict WHEN 'faster' THEN 2 WHEN 'slower' THEN 1 ELSE 3 END
            FROM pair q
            WHERE q.run_id = a.run_id
                AND q.params = b.params
                AND q.config = b.config
                AND q.baseline = a.config
        ),
        0) AS code
FROM mode_params a
    JOIN first USING (p)
    LEFT JOIN based USING (p)
    JOIN mode_params b
        ON b.p = a.p
            AND b.mode = a.mode
            AND b.run_id = a.run_id
            AND b.s <> a.s
            AND (b.s = base OR b.s = comm);

CREATE TEMP TABLE parts AS
SELECT m.*, comm, time, coalesce(base, 0) AS base, again_comm, again_time,
    row_number() OVER (PARTITION BY m.p ORDER BY coalesce(comm_s, 0), m.s) AS rank_comm,
    row_number() OVER (PARTITION BY m.p ORDER BY overlapped_s, m.s) AS rank_time, a.low AS comm_low,
    a.high AS comm_high,
    coalesce(
        (
            SELECT code
            FROM between_two t
            WHERE t.p = m.p AND one = m.s AND other = base AND t.mode = 'comm'
        ),
        0) AS alone,
    coalesce(
        (
            SELECT code
            FROM between_two t
            WHERE t.p = m.p AND one = m.s AND other = base AND t.mode = 'overlapped'
        ),
        0) AS step,
    coalesce(
        (
            SELECT code
            FROM between_two t
            WHERE t.p = m.p AND one = m.s AND other = comm AND t.mode = 'overlapped'
        ),
        0) AS against_first,
    o.run AS ecdf_run, o.cell_id AS ecdf_cell
FROM member m
    JOIN first USING (p)
    LEFT JOIN based USING (p)
    JOIN in_order k ON k.p = m.p AND k.s = m.s
    LEFT JOIN of_mode a ON a.p = m.p AND a.s = m.s AND a.mode = 'comm'
    LEFT JOIN of_mode o
        ON o.p = m.p AND o.s = m.s AND o.mode = 'overlapped' AND m.s IN (base, comm, time);

CREATE TEMP TABLE distributed AS
SELECT DISTINCT p FROM parts WHERE ecdf_cell IS NOT NULL;

-- The distribution functions: samples in order, thinned to 400 points a curve.
CREATE TEMP TABLE sorted AS
SELECT p, s, round(1e-9 * value / iters, 15) AS time_s,
    row_number() OVER (PARTITION BY p, s ORDER BY 1.0 * value / iters) - 1 AS r,
    count(*) OVER (PARTITION BY p, s) AS n
FROM (
    SELECT p, s, ecdf_run, ecdf_cell
    FROM parts
    WHERE ecdf_cell IS NOT NULL AND p IN (SELECT p FROM gain WHERE rank <= 2)
)
    JOIN block ON run = ecdf_run AND cell_id = ecdf_cell AND copy = 0 AND counts, json_each(times_json);

CREATE TEMP TABLE thin AS
WITH RECURSIVE thin(m) AS (SELECT 0 UNION ALL SELECT m + 1 FROM thin WHERE m < 399)
SELECT * FROM thin;

CREATE TEMP TABLE kept AS
WITH RECURSIVE kept(p, s, r) AS (
    SELECT DISTINCT p, s, CAST(m * max(1, n / 400.) AS INTEGER)
    FROM (SELECT DISTINCT p, s, n FROM sorted), thin
    WHERE CAST(m * max(1, n / 400.) AS INTEGER) < n
)
SELECT * FROM kept;

CREATE TEMP TABLE quantile AS
SELECT p, s, quantile,
    a.time_s
        + CASE
            WHEN n * quantile < 1 THEN 0
            ELSE (n * quantile - CAST(n * quantile AS INTEGER))
                * (
                    (SELECT time_s FROM sorted b WHERE b.p = a.p AND b.s = a.s AND b.r = a.r + 1)
                        - a.time_s)
        END AS value
FROM sorted a, (SELECT 0.5 AS quantile UNION ALL SELECT 0.95)
WHERE r = max(0, CAST(n * quantile AS INTEGER) - 1);

CREATE TEMP TABLE step_text AS
WITH RECURSIVE step_text(p, part, i, k, line) AS (
    SELECT p, 10, 0, 0, 'size_B = ' || size_B || '; n = ' || members FROM member WHERE s = 1
    UNION ALL
    SELECT p, 11, 0, 0,
        printf('first_comm = %d; first_time = %d; baseline_at = %d', comm, time, base)
    FROM parts
    WHERE s = 1
    UNION ALL
    SELECT p, 12, 0, 0, 'array of_ecdf[' || count(*) || '] = [' || group_concat(s, ', ') || ']'
    FROM (SELECT p, s FROM parts WHERE ecdf_cell IS NOT NULL ORDER BY p, s)
    GROUP BY p
    UNION ALL
    SELECT p, 13, nth, 0,
        'array ' || name || '[' || count(*) || '] = [' || group_concat(value, ', ') || ']'
    FROM (
        SELECT p, s, key AS name, d.id AS nth, coalesce(value, 'NaN') AS value
        FROM parts, json_each(
            json_object(
                'compute', coalesce(compute_s, ''), 'exposed', max(0, coalesce(exposed_s, 0)),
                'hidden', max(0, coalesce(hidden_s, 0)), 'time', overlapped_s, 'time_low', low,
                'time_high', high, 'by_time', rank_time, 'comm', coalesce(comm_s, ''), 'comm_low',
                comm_low, 'comm_high', comm_high, 'by_comm', rank_comm, 'again_comm', again_comm,
                'again_time', again_time, 'alone', alone, 'step', step, 'against_first',
                against_first)) d
        ORDER BY p, key, s
    )
    GROUP BY p, name
    UNION ALL
    SELECT DISTINCT p, 14, 0, 0, '$ecdf << EOD' FROM sorted
    UNION ALL
    SELECT p, 15, s, r, time_s || ' ' || ((r + 1.) / n) FROM sorted JOIN kept USING (p, s, r)
    UNION ALL
    SELECT p, 15, s, n, time_s || ' 1' FROM sorted WHERE r = n - 1
    UNION ALL
    SELECT DISTINCT p, 15, s, blank, ''
    FROM sorted
        JOIN (SELECT p, min(s) AS lowest FROM sorted GROUP BY p) USING (p), (
            SELECT -2 AS blank
            UNION ALL
            SELECT -1
        )
    WHERE s > lowest
    UNION ALL
    SELECT DISTINCT p, 16, 0, 0, 'EOD' FROM sorted
    UNION ALL
    SELECT p, 17, quantile, 0,
        'array ' || CASE quantile WHEN 0.5 THEN 'median' ELSE 'p95' END || '[' || count(*)
            || '] = [' || group_concat(value, ', ') || ']'
    FROM (SELECT * FROM quantile ORDER BY p, quantile, s)
    GROUP BY p, quantile
)
SELECT * FROM step_text;

-- ---- time of a step over compute alone against the number of CTAs

-- NCCL's own choice is a horizontal line, not a point.
CREATE TEMP TABLE of_ctas AS
SELECT *, substr(config, 6) + 0 AS number
FROM member
WHERE config GLOB 'ctas=[0-9]*'
    AND substr(config, 6) NOT GLOB '*[^0-9]*'
    AND substr(config, 6) + 0 > 0
    AND compute_s > 0;

CREATE TEMP TABLE ctas_text AS
WITH RECURSIVE ctas_text(p, part, i, k, line) AS (
    SELECT p, 10, 0, 0,
        'n = 2; array label[2] = [''sequential'', ''overlapped'']; compute = ' || compute_s
    FROM member
    WHERE s = 1
    UNION ALL
    SELECT p, 11, 0, 0,
        'array across[2] = ['
            || coalesce(max(CASE config WHEN 'auto' THEN sequential_s / compute_s END), 'NaN')
            || ', '
            || coalesce(max(CASE config WHEN 'auto' THEN overlapped_s / compute_s END), 'NaN')
            || ']'
    FROM member
    WHERE compute_s > 0
    GROUP BY p
    UNION ALL
    SELECT p, 12, 0, 0, 'array mark[' || count(*) || '] = [' || group_concat(number, ', ') || ']'
    FROM (SELECT p, number FROM of_ctas ORDER BY p, number)
    GROUP BY p
    UNION ALL
    SELECT DISTINCT p, 13, 0, 0, '$level << EOD' FROM of_ctas
    UNION ALL
    SELECT c.p, 14, 1, number,
        number || ' ' || (o.median_s / compute_s) || ' ' || (o.low / compute_s) || ' '
            || (o.high / compute_s)
    FROM of_ctas c JOIN of_mode o ON o.p = c.p AND o.s = c.s AND o.mode = 'sequential'
    UNION ALL
    SELECT p, 14, 2, number,
        number || ' ' || (overlapped_s / compute_s) || ' ' || (low / compute_s) || ' '
            || (high / compute_s)
    FROM of_ctas
    UNION ALL
    SELECT DISTINCT p, 14, 2, blank, '' FROM of_ctas, (SELECT -2 AS blank UNION ALL SELECT -1)
    UNION ALL
    SELECT DISTINCT p, 15, 0, 0, 'EOD' FROM of_ctas
)
SELECT * FROM ctas_text;

-- ---- time of one operation against contention

-- A figure for each size, from the panels that differ only in `contention`.
CREATE TEMP TABLE level_place AS
WITH RECURSIVE level_place(level, k) AS (
    VALUES ('none', 1), ('low', 2), ('medium', 3), ('high', 4)
)
SELECT * FROM level_place;

CREATE TEMP TABLE contention_point AS
SELECT base.p, q.size_B, base.s, base.config, k, q.median_s, q.low, q.high
FROM series base
    JOIN contended b ON b.p = base.p AND b.level = 'none'
    JOIN (SELECT max(p) AS p, label, others, level FROM contended GROUP BY label, others, level) c
        ON c.label = b.label AND c.others = b.others
    JOIN level_place ON level_place.level = c.level
    JOIN point q ON q.p = c.p AND q.config = base.config AND q.rank = 1;

CREATE TEMP TABLE contention AS
SELECT p, size_B, config, row_number() OVER (PARTITION BY p, size_B ORDER BY min(s)) AS s
FROM contention_point
GROUP BY p, size_B, config;

CREATE TEMP TABLE contention_text AS
WITH RECURSIVE contention_text(p, size_B, part, i, k, line) AS (
    SELECT p, size_B, 10, 0, 0, 'n = ' || count(*) FROM contention GROUP BY p, size_B
    UNION ALL
    SELECT DISTINCT p, size_B, 11, 0, 0, '$level << EOD' FROM contention
    UNION ALL
    SELECT p, size_B, 12, c.s, k, k || ' ' || median_s || ' ' || low || ' ' || high
    FROM contention_point JOIN contention c USING (p, size_B, config)
    UNION ALL
    SELECT p, size_B, 12, s, blank, ''
    FROM contention, (SELECT -2 AS blank UNION ALL SELECT -1)
    WHERE s > 1
    UNION ALL
    SELECT DISTINCT p, size_B, 13, 0, 0, 'EOD' FROM contention
)
SELECT * FROM contention_text;
