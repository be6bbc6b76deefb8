-- SPDX-License-Identifier: Apache-2.0
--
-- What there is to draw of one platform and workload (:of, "P/W"): the first part of the query that
-- figures/panels asks; steps.sql, curves.sql, verdicts.sql and panels.sql follow. A cell measured
-- again is drawn as it was measured last; a run that was interrupted is drawn only while its
-- section has no finished one, and one that measured nothing never. :runs limits the runs and
-- :configs the configs, JSON lists; an empty one is no limit.
--
-- A panel holds one curve (bar, line) a config. Parameters that take several values beside `size`
-- are axes; each combination of their values is a panel of its own. So is each size of a training
-- step, up to 2; of more sizes those are drawn where some config gains most on the first one.
CREATE TEMP TABLE IF NOT EXISTS samples(run_id, cell_id, platform, workload, copy, time_s);

CREATE TEMP TABLE IF NOT EXISTS transitions(
    platform, workload, label, config, mode, params, ranks, nodes, kind, size_B, from_B, to_B,
    change, verdict, reason);

CREATE TEMP TABLE run AS
SELECT run_id, max(label) AS section, row_number() OVER (ORDER BY min(rowid)) AS nth,
    max(median_s IS NOT NULL) AS measured, coalesce(max(status = 'partial'), 0) AS partial
FROM summary
WHERE platform || '/' || workload = :of
    AND (:runs = '[]' OR run_id IN (SELECT value FROM json_each(:runs)))
GROUP BY run_id;

CREATE TEMP TABLE drawn_run AS
SELECT run_id, nth
FROM run
WHERE measured
    AND NOT (partial AND section IN (SELECT section FROM run WHERE measured AND NOT partial));

CREATE TEMP TABLE wanted AS
SELECT value AS config FROM json_each(:configs)
UNION
SELECT config FROM summary WHERE :configs = '[]'
UNION
SELECT config FROM compare WHERE :configs = '[]'
UNION
SELECT config FROM iteration WHERE :configs = '[]';

-- `i` is the place of the first measurement, `at` that of the last.
CREATE TEMP TABLE cell AS
SELECT *, coalesce(ci_low_s, median_s) AS low, coalesce(ci_high_s, median_s) AS high, first AS i
FROM (
    SELECT *, min(at) OVER c AS first, max(at) OVER c AS last
    FROM (
        SELECT s.*, row_number() OVER (ORDER BY nth, s.rowid) AS at
        FROM summary s JOIN drawn_run USING (run_id)
        WHERE platform || '/' || workload = :of
            AND median_s IS NOT NULL
            AND config IN (SELECT config FROM wanted)
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
        FROM iteration t JOIN drawn_run USING (run_id)
        WHERE platform || '/' || workload = :of
            AND overlapped_s IS NOT NULL
            AND config IN (SELECT config FROM wanted)
    )
    WINDOW c AS (PARTITION BY label, config, ranks, nodes, params)
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
        FROM compare c JOIN drawn_run USING (run_id)
        WHERE platform || '/' || workload = :of AND config IN (SELECT config FROM wanted)
    )
    WINDOW c AS (PARTITION BY label, mode, config, size_B, params)
)
WHERE rank = 1;

-- ---- axes: parameters that differ between cells of one config, mode and size, and the collective

CREATE TEMP TABLE thing AS
WITH RECURSIVE thing(kind, i, params) AS (
    SELECT 'cell', i, params || ' ranks=' || ranks || ' nodes=' || nodes FROM cell
    UNION ALL
    SELECT 'iteration', i, params || ' ranks=' || ranks || ' nodes=' || nodes FROM iterations
    UNION ALL
    SELECT 'contrast', contrast.i, contrast.params || ' ranks=' || ranks || ' nodes=' || nodes
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
WHERE kind = 'contrast' AND (mode = 'overlapped' OR NOT EXISTS (SELECT * FROM iterations));

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
