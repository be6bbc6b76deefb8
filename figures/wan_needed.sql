-- SPDX-License-Identifier: Apache-2.0
--
-- The rate that a utilisation needs, by schedule: lines of the model, and published points.
.import data/csv/wan/needed.csv needed
WITH line AS (
    SELECT schedule, row_number() OVER (ORDER BY min(rowid)) AS i
    FROM needed
    GROUP BY schedule
),
text(part, i, place, a, b, c) AS (
    SELECT 0, 0, 0, '@ wan_needed method/wan_needed', NULL, NULL
    UNION ALL
    SELECT 1, 0, 0,
        'title_of = ''bandwidth needed''; platform = ''''; workload = ''''; more = ''''', NULL, NULL
    UNION ALL
    SELECT 1, 1, 0, 'detail = ''1e9 parameters, 0.1 s per step; points: Douillard et al. 2025''',
        NULL, NULL
    UNION ALL
    SELECT 1, 2, 0,
        'n = ' || count(*) || '; array label[' || count(*) || '] = ['
            || group_concat(quote(schedule), ', ') || ']',
        NULL, NULL
    FROM (SELECT * FROM line ORDER BY i)
    UNION ALL
    SELECT 2, i, 0, '$line' || i || ' << EOD', NULL, NULL FROM line
    UNION ALL
    SELECT 2, i, needed.rowid, 100 * utilisation, rate_bps / 1e9, NULL
    FROM needed JOIN line USING (schedule)
    WHERE kind = 'model'
    UNION ALL
    SELECT 2, i, 1e9, 'EOD', NULL, NULL FROM line
    UNION ALL
    SELECT 3, 0, 0, '$points << EOD', NULL, NULL
    UNION ALL
    SELECT 3, 1, needed.rowid, 100 * utilisation, rate_bps / 1e9, i
    FROM needed JOIN line USING (schedule)
    WHERE kind <> 'model'
    UNION ALL
    SELECT 3, 2, 0, 'EOD', NULL, NULL
)
SELECT a, b, c FROM text ORDER BY part, i, place
