-- SPDX-License-Identifier: Apache-2.0
--
-- In the middle of panels.sql: the panels of compare.csv.

-- ---- verdicts: a forest, and a map of all sizes

-- A panel that would have more than 36 rows shows the forest of some sizes, evenly spread, and says
-- how many; the map has them all.
CREATE TEMP TABLE verdict AS
SELECT *, dense_rank() OVER (PARTITION BY p ORDER BY size_B) AS j,
    dense_rank() OVER (PARTITION BY p ORDER BY c_first) AS c
FROM (
    SELECT *, min(i) OVER (PARTITION BY p, config) AS c_first,
        row_number() OVER (PARTITION BY p, config, size_B ORDER BY i DESC) AS newest
    FROM v
)
WHERE newest = 1;

CREATE TEMP TABLE extent AS
SELECT p, max(j) AS sizes, max(c) AS configs, max(1, min(36 / max(c), max(j))) AS groups
FROM verdict
GROUP BY p;

CREATE TEMP TABLE shown_size AS
SELECT p, d + 1 AS g,
    CASE groups
        WHEN 1 THEN sizes
        ELSE 1 + CAST(1. * d * (sizes - 1) / (groups - 1) + 0.5 AS INTEGER)
    END AS j
FROM extent JOIN digit ON d < groups;

CREATE TEMP TABLE forest AS
SELECT verdict.*, g, row_number() OVER (PARTITION BY p ORDER BY g, c) AS r,
    row_number() OVER (PARTITION BY p ORDER BY g, c) + 0.6 * (g - 1) AS y
FROM verdict JOIN shown_size USING (p, j);

CREATE TEMP TABLE forest_group AS
SELECT p, g, min(y) - 0.5 AS top, max(y) + 0.5 AS bottom, max(coalesce(floor, 0)) AS floor,
    size_B AS size
FROM forest
GROUP BY p, g;

CREATE TEMP TABLE verdict_text AS
WITH RECURSIVE verdict_text(kind, p, part, i, k, line) AS (
    SELECT kind, p, 10, 0, 0, 'baseline = ' || quote(baseline) || '; n_sizes = ' || sizes
    FROM v JOIN extent USING (p), (SELECT 'forest' AS kind UNION ALL SELECT 'map')
    WHERE i = p
    UNION ALL
    SELECT 'forest', p, 11, 0, 0, '$forest << EOD' FROM extent
    UNION ALL
    SELECT 'forest', p, 12, 0, r,
        y || ' ' || ratio || ' ' || ratio_low || ' ' || ratio_high || ' ' || code
    FROM forest
    WHERE ratio_low IS NOT NULL
    UNION ALL
    SELECT 'forest', p, 13, 0, 0, 'EOD' FROM extent
    UNION ALL
    SELECT 'forest', p, 14, 0, 0,
        printf(
            'rows = %d; groups = %d; last = %g; equivalence = %g; array label[%d] = [%s]; array place[%d] = [%s]',
            count(*), max(g), max(y) + 0.5, (SELECT equivalence FROM v WHERE v.i = f.p), count(*),
            group_concat(quote(config), ', '), count(*), group_concat(y, ', '))
    FROM (SELECT * FROM forest ORDER BY p, r) f
    GROUP BY p
    UNION ALL
    SELECT 'forest', p, 15, 0, 0,
        printf(
            'array size[%d] = [%s]; array top[%d] = [%s]; array bottom[%d] = [%s]; array floor_of[%d] = [%s]',
            count(*), group_concat(size, ', '), count(*), group_concat(top, ', '), count(*),
            group_concat(bottom, ', '), count(*), group_concat(floor, ', '))
    FROM (SELECT * FROM forest_group ORDER BY p, g)
    GROUP BY p
    UNION ALL
    SELECT 'map', p, 11, 0, 0,
        printf(
            'rows = %d; array label[%d] = [%s]', count(*), count(*),
            group_concat(quote(config), ', '))
    FROM (SELECT DISTINCT p, c, config FROM verdict ORDER BY p, c)
    GROUP BY p
    UNION ALL
    SELECT 'map', p, 12, 0, 0, printf('array size[%d] = [%s]', count(*), group_concat(size_B, ', '))
    FROM (SELECT DISTINCT p, size_B FROM verdict ORDER BY p, size_B)
    GROUP BY p
    UNION ALL
    SELECT 'map', p, 13, 0, 0, '$map << EOD' FROM extent
    UNION ALL
    SELECT 'map', p, 14, j, c, j || ' ' || c || ' ' || code || ' ' || coalesce(ratio, 1)
    FROM verdict
    UNION ALL
    SELECT 'map', p, 15, 0, 0, 'EOD' FROM extent
)
SELECT * FROM verdict_text;
