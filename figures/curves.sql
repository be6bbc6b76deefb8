-- SPDX-License-Identifier: Apache-2.0
--
-- After steps.sql: curves against size.

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

-- Marks on every curve, and words on one. Changes of only the number of CTAs are too many to draw.
-- Features that replicates did not confirm are not drawn. With a single replicate nothing is
-- confirmed: features of one curve are then drawn with a question mark.
CREATE TEMP TABLE feature AS
SELECT t.*, t.rowid AS place, kind IN ('dip', 'fall', 'spike', 'first row') AS at_size,
    CASE kind
        WHEN 'switch' THEN 1
        WHEN 'knee' THEN 2
        WHEN 'dip' THEN 3
        WHEN 'fall' THEN 3
        WHEN 'spike' THEN 4
        WHEN 'first row' THEN 5
        ELSE 6
    END AS code,
    substr(reason, 1, instr(reason || '/', '/') - 1) AS was,
    ltrim(substr(reason, instr(reason, ' to ') + 4)) AS after
FROM transitions t
WHERE platform || '/' || workload = :of
    AND kind NOT IN ('fit', 'refused', 'CTAs')
    AND verdict <> 'not confirmed';

CREATE TEMP TABLE mark AS
SELECT d.p, d.s, f.place, f.size_B AS size, f.code, d.s = worded AS mine, worded,
    CASE WHEN at_size THEN f.size_B ELSE from_B END AS from_B,
    CASE WHEN at_size THEN f.size_B ELSE to_B END AS to_B,
    CASE kind
        WHEN 'spike' THEN printf('spike ×%.2g', 1 + change)
        WHEN 'dip' THEN printf('dip %.0f%%', 100 * change)
        WHEN 'fall' THEN printf('fall %.0f%%', 100 * change)
        WHEN 'first row' THEN 'warm-up'
        WHEN 'kink' THEN 'kink'
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
        ELSE 'half of peak '
            || CASE
                WHEN f.size_B >= 1073741824 THEN printf('%.3g GiB', f.size_B / 1073741824.)
                WHEN f.size_B >= 1048576 THEN printf('%.3g MiB', f.size_B / 1048576.)
                WHEN f.size_B >= 1024 THEN printf('%.3g KiB', f.size_B / 1024.)
                ELSE f.size_B || ' B'
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
WHERE d.s = worded OR f.verdict <> 'unconfirmed' AND kind <> 'knee';

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
