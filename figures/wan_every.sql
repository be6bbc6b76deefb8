-- SPDX-License-Identifier: Apache-2.0
--
-- Of the plan :of (gradsync model): efficiency against H, the steps between two synchronisations, by
-- bits.
.import data/csv/wan/:of.csv plan
WITH swept AS (SELECT *, rowid AS place FROM plan WHERE sweep = 'every'),
line AS (
    SELECT bits, row_number() OVER (ORDER BY min(place)) AS i
    FROM swept
    GROUP BY bits
),
text(part, i, place, a, b) AS (
    SELECT 0, 0, 0, '@ wan_every ' || :of || '/wan_every', NULL
    UNION ALL
    SELECT 1, 0, 0,
        'title_of = ''how often to synchronise''; platform = ''''; workload = ''''; more = ''''',
        NULL
    UNION ALL
    SELECT 1, 1, 0,
        'detail = '
            || quote(
                printf(
                    '%s: %s over %d sites of %.3g Gbit/s; model', platform, strategy, sites,
                    rate_Bps * 8e-9)),
        NULL
    FROM (SELECT * FROM swept ORDER BY place DESC LIMIT 1)
    UNION ALL
    SELECT 1, 2, 0,
        'n = ' || count(*) || '; array label[' || count(*) || '] = ['
            || group_concat(quote(printf('%g bits', bits)), ', ') || ']',
        NULL
    FROM (SELECT * FROM line ORDER BY i)
    UNION ALL
    SELECT 2, i, 0, '$line' || i || ' << EOD', NULL FROM line
    UNION ALL
    SELECT 2, i, place, every + 0, 100 * efficiency FROM swept JOIN line USING (bits)
    UNION ALL
    SELECT 2, i, 1e9, 'EOD', NULL FROM line
)
SELECT a, b FROM text ORDER BY part, i, place
