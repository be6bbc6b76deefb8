-- SPDX-License-Identifier: Apache-2.0
--
-- Time of one synchronisation, by strategy. :of says of what:
--   sync_size, sync_size_slow   against size at the highest and the lowest rate recorded
--   sync_rtt, sync_rtt_small    against RTT, of the largest size that every RTT has at the highest
--                               rate, and of the smallest one at the lowest
-- Of links without disturbances, of synchronisations alone over tcp beside MPI's own, in fp32, of
-- the network with the RTT in the middle and the least loss, for which there are sizes, and of as
-- many ranks at as many sites as most cells are. All sites have the same rate: the bound of sites
-- with equal rates has the bytes of a ring, and faster sites beside the slowest lower it. A line
-- has two points or more; without any line nothing is drawn.
.read figures/wan_cells.sql
WITH kind AS (
    SELECT :of GLOB 'sync_rtt*' AS by_rtt, :of IN ('sync_size_slow', 'sync_rtt_small') AS small
),
plain AS (
    SELECT *
    FROM cell
    WHERE (bound_s - coalesce(rtt_s, 0) / 2) * rate_Bps >= 0.999 * 2 * (sites - 1) / sites * size_B
        AND shape = (
                SELECT shape FROM cell GROUP BY shape ORDER BY count(*) DESC, max(place) LIMIT 1
            )
        AND platform NOT GLOB '*-internet*'
        AND step_s IS NULL
        AND wire = 'fp32'
        AND NOT special
        AND (strategy = 'mpi' OR transport = 'tcp')
),
at_rate AS (
    SELECT plain.*
    FROM plain, kind
    WHERE rate_Bps = (SELECT CASE WHEN small THEN min(rate_Bps) ELSE max(rate_Bps) END FROM plain)
),
middle AS (
    SELECT rtt_s AS rtt
    FROM (SELECT DISTINCT rtt_s FROM at_rate)
    ORDER BY 1
    LIMIT 1 OFFSET (SELECT (count(DISTINCT rtt_s) - 1) / 2 FROM at_rate)
),
least AS (
    SELECT
        coalesce(
            CASE
                WHEN NOT by_rtt
                    THEN (
                        SELECT loss
                        FROM at_rate JOIN middle ON rtt_s = rtt
                        GROUP BY loss
                        HAVING count(DISTINCT size_B) > 1
                        ORDER BY loss
                        LIMIT 1
                    )
            END,
            (SELECT min(loss) FROM at_rate)) AS least_loss
    FROM kind
),
of_loss AS (SELECT at_rate.* FROM at_rate JOIN least ON loss = least_loss),
common AS (
    SELECT CASE WHEN small THEN min(size_B) ELSE max(size_B) END AS size
    FROM kind, (
        SELECT size_B
        FROM of_loss
        GROUP BY size_B
        HAVING count(DISTINCT rtt_s) = (SELECT count(DISTINCT rtt_s) FROM of_loss)
    )
),
shown AS (
    SELECT of_loss.*, CASE WHEN by_rtt THEN rtt_s * 1e3 ELSE size_B END AS x
    FROM of_loss, kind, middle, common
    WHERE CASE WHEN by_rtt THEN size_B = size ELSE rtt_s = rtt END
),
point AS (
    SELECT words, x, sync_s AS y, low, high, min(place) AS place
    FROM shown
    GROUP BY words, x
),
line AS (
    SELECT words, row_number() OVER (ORDER BY min(place)) AS i
    FROM point
    GROUP BY words
    HAVING count(*) > 1
),
lines AS (
    SELECT words, i FROM line
    UNION ALL
    SELECT 'lower bound', max(i) + 1 FROM line HAVING count(*) > 0
),
text(part, i, x, a, b, c, d) AS (
    SELECT 0, 0, 0, '@ wan_sync wan/' || :of, NULL, NULL, NULL FROM lines GROUP BY 1
    UNION ALL
    SELECT 1, 0, 0, 'title_of = ''time of one synchronisation''', NULL, NULL, NULL
    UNION ALL
    SELECT 1, 1, 0,
        'detail = '
            || quote(
                printf(
                    '%d sites, %.4g Mbit/s%s, %s', sites, rate_Bps * 8e-6,
                    CASE WHEN loss > 0 THEN printf(', %g%% loss', 100 * loss) ELSE '' END,
                    CASE
                        WHEN by_rtt
                            THEN CASE
                                WHEN size_B >= 1048576 THEN printf('%g MiB', size_B / 1048576.)
                                ELSE printf('%g KiB', size_B / 1024.)
                            END
                        ELSE printf('RTT %.4g ms', 1e3 * rtt_s)
                    END)),
        NULL, NULL, NULL
    FROM (SELECT * FROM shown ORDER BY place DESC LIMIT 1), kind
    UNION ALL
    SELECT 1, 2, 0, 'platform = ''''; workload = ''''; more = ''''; by_rtt = ' || by_rtt, NULL,
        NULL, NULL
    FROM kind
    UNION ALL
    SELECT 1, 3, 0, 'n = ' || count(*), NULL, NULL, NULL FROM lines
    UNION ALL
    SELECT 1, 4, 0,
        'array label[' || count(*) || '] = [' || group_concat(quote(words), ', ') || ']', NULL,
        NULL, NULL
    FROM (SELECT words FROM lines ORDER BY i)
    HAVING count(*) > 0
    UNION ALL
    SELECT 2, 0, 0, '$curve << EOD', NULL, NULL, NULL
    UNION ALL
    SELECT 3, i, x, x, y, low, high FROM point JOIN lines USING (words)
    UNION ALL
    SELECT 3, i, x, x, bound_s, bound_s, bound_s
    FROM (SELECT x, bound_s, max(place) FROM shown GROUP BY x), lines
    WHERE words = 'lower bound'
    UNION ALL
    SELECT 3, i, blank, NULL, NULL, NULL, NULL
    FROM lines, (SELECT -2 AS blank UNION ALL SELECT -1)
    WHERE i > 1
    UNION ALL
    SELECT 4, 0, 0, 'EOD', NULL, NULL, NULL
)
SELECT a, b, c, d FROM text ORDER BY part, i, x
