-- SPDX-License-Identifier: Apache-2.0
--
-- Measured over modelled time, a row for each network and a point for each
-- cell. The error is that of the model, of the time measured.
.read figures/wan_cells.sql
WITH shown AS (
    SELECT *,
        CASE
            WHEN platform GLOB '*wan-lab-*' THEN substr(platform, instr(platform, 'wan-lab-') + 8)
            ELSE platform
        END AS network,
        CASE wire WHEN 'fp32' THEN words ELSE 'int8, int4, bf16' END AS series,
        abs(model_sync_s / sync_s - 1) AS error
    FROM cell
    WHERE model_sync_s IS NOT NULL AND sync_s IS NOT NULL
),
line AS (
    SELECT series, row_number() OVER (ORDER BY min(place)) AS i
    FROM shown
    GROUP BY series
),
ranked AS (
    SELECT *, count(*) OVER (PARTITION BY network) AS cells,
        row_number() OVER (PARTITION BY network ORDER BY error) AS by_error
    FROM shown
),
row AS (
    SELECT network, row_number() OVER (ORDER BY min(place)) AS k, max(error) AS worst,
        avg(CASE WHEN by_error IN ((cells + 1) / 2, cells / 2 + 1) THEN error END) AS median
    FROM ranked
    GROUP BY network
),
text(part, i, k, a, b, c, d) AS (
    SELECT 0, 0, 0, '@ wan_modelled wan/modelled', NULL, NULL, NULL FROM line GROUP BY 1
    UNION ALL
    SELECT 1, 0, 0, 'title_of = ''one synchronisation: measured over modelled, by network''', NULL,
        NULL, NULL
    UNION ALL
    SELECT 1, 1, 0, 'detail = ''bands: the model within 5, 10 and 15% of the time measured''', NULL,
        NULL, NULL
    UNION ALL
    SELECT 1, 2, 0, 'platform = ''''; workload = ''''; more = ''''', NULL, NULL, NULL
    UNION ALL
    SELECT 1, 3, 0, 'n = ' || count(*), NULL, NULL, NULL FROM line
    UNION ALL
    SELECT 1, 4, 0,
        'array label[' || count(*) || '] = [' || group_concat(quote(series), ', ') || ']', NULL,
        NULL, NULL
    FROM (SELECT series FROM line ORDER BY i)
    HAVING count(*) > 0
    UNION ALL
    SELECT 1, 5, 0,
        'rows = ' || count(*) || '; array network[' || count(*) || '] = ['
            || group_concat(quote(network), ', ') || ']; array note[' || count(*) || '] = ['
            || group_concat(quote(printf('%.1f%%, %.0f%%', 100 * median, 100 * worst)), ', ')
            || ']',
        NULL, NULL, NULL
    FROM (SELECT * FROM row ORDER BY k)
    HAVING count(*) > 0
    UNION ALL
    SELECT 2, 0, 0, '$curve << EOD', NULL, NULL, NULL
    UNION ALL
    SELECT 3, i, k + place / 1e9, k, sync_s / model_sync_s, 0, 0
    FROM shown JOIN line USING (series) JOIN row USING (network)
    UNION ALL
    SELECT 3, i, blank, NULL, NULL, NULL, NULL
    FROM line, (SELECT -2 AS blank UNION ALL SELECT -1)
    WHERE i > 1
    UNION ALL
    SELECT 4, 0, 0, 'EOD', NULL, NULL, NULL
)
SELECT a, b, c, d FROM text ORDER BY part, i, k
