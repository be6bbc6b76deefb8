-- SPDX-License-Identifier: Apache-2.0
--
-- Efficiency against H, the steps between two synchronisations, by what is on
-- the wire: measured, and the model's line.
.read figures/wan_cells.sql
WITH shown AS (
    SELECT *, row_number() OVER (PARTITION BY wire, every ORDER BY place) AS nth_of
    FROM cell
    WHERE step_s IS NOT NULL AND NOT special AND model_efficiency IS NOT NULL
),
line AS (
    SELECT wire, row_number() OVER (ORDER BY min(place)) AS i
    FROM shown
    GROUP BY wire
),
text(part, i, x, a, b, c) AS (
    SELECT 0, 0, 0, '@ wan_trained wan/every', NULL, NULL FROM line GROUP BY 1
    UNION ALL
    SELECT 1, 0, 0, 'title_of = ''how often to synchronise: points measured, lines modelled''',
        NULL, NULL
    UNION ALL
    SELECT 1, 1, 0,
        'detail = '
            || quote(
                printf(
                    '%s: %s, %d sites, %.4g Mbit/s, RTT %.4g ms, %s', platform, words, sites,
                    rate_Bps * 8e-6, 1e3 * rtt_s, human_size(size_B))),
        NULL, NULL
    FROM (SELECT * FROM shown ORDER BY place DESC LIMIT 1)
    UNION ALL
    SELECT 1, 2, 0, 'platform = ''''; workload = ''''; more = ''''', NULL, NULL
    UNION ALL
    SELECT 1, 3, 0, 'n = ' || count(*), NULL, NULL FROM line
    UNION ALL
    SELECT 1, 4, 0, 'array label[' || count(*) || '] = [' || group_concat(quote(wire), ', ') || ']',
        NULL, NULL
    FROM (SELECT wire FROM line ORDER BY i)
    HAVING count(*) > 0
    UNION ALL
    SELECT 2, 0, 0, '$curve << EOD', NULL, NULL
    UNION ALL
    SELECT 3, i, every, every, 100 * efficiency, 100 * model_efficiency
    FROM shown JOIN line USING (wire)
    WHERE nth_of = 1
    UNION ALL
    SELECT 3, i, blank, NULL, NULL, NULL
    FROM line, (SELECT -2 AS blank UNION ALL SELECT -1)
    WHERE i > 1
    UNION ALL
    SELECT 4, 0, 0, 'EOD', NULL, NULL
)
SELECT a, b, c FROM text ORDER BY part, i, x
