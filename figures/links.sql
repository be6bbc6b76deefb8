-- SPDX-License-Identifier: Apache-2.0
--
-- Bandwidth against step time: a row for each setting ('point'), and one for each two settings
-- whose orders by bandwidth and by step time are shown to be opposite ('reversed': the ends of a
-- line). A step has these settings both alone and in the step, on one link; panels in the order of
-- `link`. An order is shown if the mean over launches of the logarithm of the ratio within blocks
-- is beyond Student's t at 95%, for two-sided tests of all pairs of five settings (Bonferroni), and
-- beyond 1%.
WITH link(
    panel, platform, alone_label, step_label, alone_mode, step_mode, alone_word, step_word
) AS (
    VALUES
        (
            1, 'h100-2gpu-steps', 'resnet', 'resnet', 'comm', 'overlapped',
            '% batch=4 launch=graph %', '% batch=4 launch=graph %'),
        (2, 'h100-2gpu-sock', 'alone', 'nanogpt', '', '', '%', '%'),
        (3, 'h100-2gpu-host', 'alone-buckets', 'nanogpt', '', '', '%bytes=26214400%', '%')
),
t(launches, least) AS (VALUES (2, 254.65), (3, 19.96), (4, 9.46), (5, 6.76)),
setting AS (
    SELECT panel, axis, s.run, s.cell_id, s.config, median_s, ci_low_s, ci_high_s,
        CASE s.size_B
            WHEN 0
                THEN (
                    SELECT value
                    FROM param p
                    WHERE p.run = s.run AND p.cell_id = s.cell_id AND key = 'bytes'
                )
            ELSE s.size_B
        END AS bytes
    FROM standing
        JOIN summary s USING (run)
        JOIN (
            SELECT *, 'alone' AS axis, alone_label AS label, alone_mode AS mode, alone_word AS word
            FROM link
            UNION ALL
            SELECT *, 'step', step_label, step_mode, step_word FROM link
        ) l ON s.platform = l.platform
                AND s.label = l.label
                AND coalesce(s.mode, '') = l.mode
                AND s.params LIKE l.word
),
block_time AS (
    SELECT panel, axis, config, launch, block, avg(ln(time_ns)) AS x
    FROM setting JOIN block b USING (run, cell_id) JOIN sample USING (run, seq)
    GROUP BY 1, 2, 3, 4, 5
),
launch_pair AS (
    SELECT a.panel, a.axis, a.config AS one, b.config AS other, a.launch, avg(a.x - b.x) AS x
    FROM block_time a JOIN block_time b USING (panel, axis, launch, block)
    WHERE a.config <> b.config
    GROUP BY 1, 2, 3, 4, 5
),
pair AS (
    SELECT panel, axis, one, other, count(*) AS launches, avg(x) AS x,
        sqrt(max(0, avg(x * x) - avg(x) * avg(x)) / (count(*) - 1)) AS error
    FROM launch_pair
    GROUP BY 1, 2, 3, 4
    HAVING count(*) > 1
),
shorter AS (
    SELECT panel, axis, one, other
    FROM pair JOIN t USING (launches)
    WHERE x + least * error < 0 AND x < -ln(1.01)
),
point AS (
    SELECT a.panel, a.config, a.bytes / a.median_s / 1e9 AS bw,
        a.bytes / coalesce(a.ci_high_s, a.median_s) / 1e9 AS bw_low, -- one launch has no interval
        a.bytes / coalesce(a.ci_low_s, a.median_s) / 1e9 AS bw_high,
        1e3 * s.median_s AS ms, 1e3 * s.ci_low_s AS low, 1e3 * s.ci_high_s AS high
    FROM setting a JOIN setting s USING (panel, config)
    WHERE a.axis = 'alone' AND s.axis = 'step'
),
-- A figure without all of its panels is not drawn.
links AS (SELECT count(DISTINCT panel) AS n FROM point)
SELECT 'point' AS kind, panel,
    CASE
        WHEN config = 'auto' THEN '25 MiB (default)'
        WHEN config = 'NCCL_SOCKET_NTHREADS=unset' THEN '1×1 (default)'
        WHEN config = 'NCCL_PROTO=unset' THEN 'default'
        WHEN config = 'NCCL_MIN_NCHANNELS=16' THEN '16 channels'
        WHEN config LIKE 'NCCL_PROTO=%' THEN substr(config, 12)
        WHEN config LIKE 'ctas=%' THEN substr(config, 6) || ' CTAs'
        WHEN config LIKE 'bucket_cap=%' THEN replace(substr(config, 12), 'MiB', ' MiB')
        ELSE replace(substr(config, 22), '/NCCL_NSOCKS_PERTHREAD=', '×')
    END AS setting,
    bw, bw_low, bw_high, ms, low, high
FROM point JOIN links ON n = 3
UNION ALL
SELECT 'reversed', a.panel, '', p.bw, p.ms, q.bw, q.ms, NULL, NULL
FROM shorter a
    JOIN shorter s ON a.panel = s.panel AND a.one = s.other AND a.other = s.one
    JOIN point p ON p.panel = a.panel AND p.config = a.one
    JOIN point q ON q.panel = a.panel AND q.config = a.other
    JOIN links ON n = 3
WHERE a.axis = 'alone' AND s.axis = 'step'
ORDER BY 1, 2, 4
