-- SPDX-License-Identifier: Apache-2.0
--
-- After wan_cells.sql: the error of the model as a share of the measured time; a row for each
-- network, and one each for all networks without and with loss. `spread` is half of the interval of
-- the measured time, and `beyond` how far the model lies outside of it: no model is better than the
-- recording.
WITH error AS (
    SELECT *, abs(model_sync_s / sync_s - 1) AS error,
        (sync_ci_high_s - sync_ci_low_s) / sync_s / 2 AS spread,
        CASE
            WHEN model_sync_s < sync_ci_low_s THEN sync_ci_low_s - model_sync_s
            ELSE model_sync_s - sync_ci_high_s
        END
            / sync_s AS beyond
    FROM cell
    WHERE model_sync_s IS NOT NULL AND sync_s IS NOT NULL
),
of(network, every_network, error, spread, beyond, config, size_B, loss, place) AS (
    SELECT platform, 0, error, spread, beyond, config, size_B, loss, place FROM error
    UNION ALL
    SELECT CASE WHEN loss > 0 THEN 'all with loss' ELSE 'all without loss' END, 1, error, spread,
        beyond, config, size_B, NULL, place
    FROM error
),
ranked AS (
    SELECT *, count(*) OVER (PARTITION BY network) AS cells,
        min(place) OVER (PARTITION BY network) AS first,
        row_number() OVER (PARTITION BY network ORDER BY error) AS by_error,
        row_number() OVER (PARTITION BY network ORDER BY spread) AS by_spread,
        row_number() OVER (PARTITION BY network ORDER BY error DESC, place) AS by_worst
    FROM of
)
SELECT network,
    CASE every_network
        WHEN 0 THEN printf('%g', max(CASE place WHEN first THEN loss END))
    END AS loss,
    cells,
    printf(
        '%.6f', avg(CASE WHEN by_error IN ((cells + 1) / 2, cells / 2 + 1) THEN error END)) AS median_error,
    printf('%.6f', max(error)) AS worst_error,
    printf(
        '%.6f', avg(CASE WHEN by_spread IN ((cells + 1) / 2, cells / 2 + 1) THEN spread END)) AS median_spread,
    printf('%.6f', max(CASE by_worst WHEN 1 THEN spread END)) AS spread_at_worst,
    printf('%.6f', max(0, max(beyond))) AS worst_beyond,
    max(CASE by_worst WHEN 1 THEN config END) AS worst_config,
    max(CASE by_worst WHEN 1 THEN size_B END) AS worst_size_B
FROM ranked
GROUP BY network
ORDER BY every_network, first
