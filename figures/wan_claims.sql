-- SPDX-License-Identifier: Apache-2.0
--
-- Of the plan :of (gradsync model): each claim that has a ratio, claimed over what the plan reaches. Both
-- ends of a range are in the unit of its high end.
.import data/csv/wan/:of-claims.csv plan
WITH unit(of, least, size, words) AS (
    VALUES ('s', 259200, 86400, ' d'), ('s', 7200, 3600, ' h'), ('s', 1, 1, ' s'),
        ('s', 0, 1e-3, ' ms'), ('B', 0, 1e9, ' GB'), ('1', 0, 0.01, ' %'),
        ('any', 1e6, 1e6, ' M/s'), ('any', 0, 1e3, ' k/s')
),
row AS (
    SELECT *, row_number() OVER (ORDER BY rowid) AS y,
        CASE unit WHEN '' THEN '1' WHEN 's' THEN 's' WHEN 'B' THEN 'B' ELSE 'any' END AS of
    FROM plan
    WHERE claim IS NOT NULL AND claim <> 'nccl_buffsize'
),
worded AS (
    SELECT *,
        (
            SELECT
                CASE WHEN low <> high THEN printf('%.3g–', low / size) ELSE '' END
                    || printf('%.3g', high / size) || words
            FROM unit
            WHERE unit.of = row.of AND high + 0 >= least
            ORDER BY least DESC
        )
            || ' → '
            || (
                SELECT printf('%.3g', reached / size) || words
                FROM unit
                WHERE unit.of = row.of AND reached + 0 >= least
                ORDER BY least DESC
            ) AS word
    FROM row
),
total AS (SELECT count(*) AS n FROM row),
text(part, y, a, b, c, d) AS (
    SELECT 0, 0, '@ wan_claims ' || :of || '/wan_claims', NULL, NULL, NULL FROM total WHERE n > 0
    UNION ALL
    SELECT 1, 0,
        'title_of = ''claims of a plan over what it reaches''; platform = ''''; workload = ''''',
        NULL, NULL, NULL
    UNION ALL
    SELECT 1, 2,
        'detail = ' || quote(min(platform) || '; right: claimed → reached') || '; rows = ' || n
            || '; array label[' || n || '] = ['
            || group_concat(quote(replace(replace(claim, '_', ' '), ' per s', '/s')), ', ')
            || ']; array word_of[' || n || '] = [' || group_concat(quote(word), ', ') || ']',
        NULL, NULL, NULL
    FROM (SELECT * FROM worded ORDER BY y), total
    HAVING n > 0
    UNION ALL
    SELECT 2, 0, '$claims << EOD', NULL, NULL, NULL
    UNION ALL
    SELECT 3, y, y, low / reached, high / reached, CASE verdict WHEN 'possible' THEN 4 ELSE 2 END
    FROM row
    UNION ALL
    SELECT 4, 0, 'EOD', NULL, NULL, NULL
)
SELECT a, b, c, d FROM text ORDER BY part, y
