-- SPDX-License-Identifier: Apache-2.0
--
-- Each published claim of limits that has a fraction, the least possible first, and the highest
-- value measured on each platform. A claim that is held against several measurements is drawn where
-- it is furthest from them.
WITH claimed AS (
    SELECT
        CASE
            WHEN kind <> 'published' THEN 'peak measured on ' || platform
            WHEN instr(claim, ' = ') > 1
                AND substr(claim, 1, instr(claim, ' = ') - 1) NOT GLOB '*[^a-z0-9_.]*'
                THEN platform || ': ' || claim
            ELSE claim
        END AS name,
        quantity
            || CASE
                WHEN kind = 'published' AND limit_source GLOB 'measured on*' THEN ', measured'
                ELSE ''
            END AS what,
        fraction, verdict
    FROM limits
    WHERE fraction IS NOT NULL -- near no limit:
        AND NOT (
                kind = 'published'
                AND quantity IN ('busbw/algbw', 'duration')
                AND verdict = 'possible')
),
row AS (
    SELECT name, what, max(fraction) AS fraction, verdict,
        row_number() OVER (ORDER BY max(fraction) DESC, name || what) AS i
    FROM claimed
    GROUP BY name, what
),
total AS (SELECT count(*) AS n FROM row),
text(part, i, a, b, c) AS (
    SELECT 0, 0, '@ claims method/claims', NULL, NULL FROM total WHERE n > 0
    UNION ALL
    SELECT 1, 0,
        'platform = ''''; workload = ''''; detail = ''▲ impossible, or contradicted by data   ◆ at the limit, or partly true''',
        NULL, NULL
    UNION ALL
    SELECT 1, 2,
        'rows = ' || n || '; array name[' || n || '] = ['
            || group_concat(quote(shorten(name, 47)), ', ') || ']; array what[' || n || '] = ['
            || group_concat(quote(what), ', ') || ']',
        NULL, NULL
    FROM (SELECT * FROM row ORDER BY i), total
    HAVING n > 0
    UNION ALL
    SELECT 2, 0, '$claims << EOD', NULL, NULL
    UNION ALL
    SELECT 3, i, i, fraction,
        CASE
            WHEN verdict IN ('impossible', 'contradicted') THEN 2
            WHEN verdict IN ('at the limit', 'in part') THEN 3
            ELSE 1
        END
    FROM row
    UNION ALL
    SELECT 4, 0, 'EOD', NULL, NULL
)
SELECT a, b, c FROM text ORDER BY part, i
