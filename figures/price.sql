-- SPDX-License-Identifier: Apache-2.0
--
-- What communication costs, a row for each job and link: the share of the step that goes when
-- communication is left out (kind half: with half the bytes; one: with one element of each
-- collective), and its 95% interval (of fewer than 6 blocks: from the least to the greatest, which
-- covers less). In a job (trial) some blocks of steps run without it; in a replayed step mode
-- `compute` is the step without it. Of the logarithms of the ratios within blocks: the median over
-- the blocks of a job's one launch, as `gradsync tune` prints it, and the interval of its order
-- statistics (the k-th value from both ends); over the launches of a replay the mean, and Student's
-- t.
WITH t(n, least, k) AS (
    VALUES (2, 12.706, 1), (3, 4.303, 1), (4, 3.182, 1), (5, 2.776, 1), (6, 2.571, 1),
        (7, 2.447, 1), (8, 2.365, 1), (9, 2.306, 2), (10, 2.262, 2), (11, 2.228, 2), (12, 2.201, 3),
        (13, 2.179, 3), (14, 2.160, 3), (15, 2.145, 4), (16, 2.131, 4), (17, 2.120, 5),
        (18, 2.110, 5), (19, 2.101, 5), (20, 2.093, 6), (21, 2.086, 6), (22, 2.080, 6),
        (23, 2.074, 7), (24, 2.069, 7), (25, 2.064, 8), (26, 2.060, 8), (27, 2.056, 8),
        (28, 2.052, 9), (29, 2.048, 9), (30, 2.045, 10), (31, 2.042, 10), (32, 2.040, 10),
        (33, 2.037, 11), (34, 2.035, 11), (35, 2.032, 12), (36, 2.030, 12), (37, 2.028, 13),
        (38, 2.026, 13), (39, 2.024, 13), (40, 2.023, 14)
),
resnet(run_id, batch) AS ( -- a recording holds the program's name alone, not its options
    VALUES ('20261126T181225Z-1c53', '16'), ('20261126T181312Z-da1a', '16'),
        ('20261126T181402Z-77fb', '4'), ('20261126T181449Z-fbde', '4'),
        ('20261126T181536Z-ac86', '1'), ('20261126T181626Z-b602', '1')
),
job AS ( -- the latest trial of each job: jobs of a platform differ by the bytes of their step
    SELECT run, bytes
    FROM (
            SELECT run, size_B AS bytes,
                row_number() OVER (PARTITION BY platform, size_B, batch ORDER BY run_id DESC)
                    AS place
            FROM run JOIN cell USING (run) LEFT JOIN resnet USING (run_id)
            WHERE workload = 'trial' AND config = 'none' AND platform GLOB 'h?00-*gpu-*'
        )
    WHERE place = 1
),
visit AS (
    SELECT r.platform, r.run_id, r.workload, r.ranks, r.label, b.launch, b.block, c.config, c.mode,
        (SELECT bytes FROM job WHERE job.run = r.run) AS bytes,
        CASE r.workload WHEN 'trial' THEN b.block ELSE b.launch END AS unit,
        replace(
            coalesce(
                (SELECT batch FROM resnet s WHERE s.run_id = r.run_id),
                (
                    SELECT value
                    FROM param p
                    WHERE p.run = b.run AND p.cell_id = b.cell_id AND key = 'batch'
                ),
                '1'),
            '-', '') AS batch,
        ln(time_ns) AS x
    FROM run r
        JOIN block b USING (run)
        JOIN cell c USING (run, cell_id)
        JOIN sample USING (run, seq)
    WHERE r.run IN (SELECT run FROM job) AND c.config IN ('auto', 'none', 'half', 'one')
        OR r.run IN (SELECT run FROM standing)
            AND r.platform = 'h100-2gpu-steps'
            AND c.params LIKE '% launch=graph %'
            AND (c.mode = 'compute' OR c.mode = 'overlapped' AND c.config = 'auto')
),
with_comm AS (
    SELECT run_id, batch, launch, block, avg(x) AS base
    FROM visit
    WHERE config = 'auto'
    GROUP BY 1, 2, 3, 4
),
difference AS (
    SELECT platform, v.run_id, workload, ranks, bytes, label, batch, v.config AS arm, unit,
        avg(v.x - base) AS x
    FROM visit v JOIN with_comm USING (run_id, batch, launch, block)
    WHERE v.config IS NOT 'auto'
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
),
ordered AS (
    SELECT *,
        row_number() OVER (PARTITION BY run_id, batch, arm ORDER BY x) AS place,
        count(*) OVER (PARTITION BY run_id, batch, arm) AS n
    FROM difference
),
price AS (
    SELECT platform, run_id, workload, ranks, bytes, label, batch, arm, n, avg(x) AS x,
        least * sqrt(max(0, avg(x * x) - avg(x) * avg(x)) / (n - 1)) AS error,
        avg(CASE WHEN place IN ((n + 1) / 2, (n + 2) / 2) THEN x END) AS median,
        max(CASE WHEN place = k THEN x END) AS lowest,
        max(CASE WHEN place = n + 1 - k THEN x END) AS highest
    FROM ordered JOIN t USING (n)
    WHERE workload <> 'trial' OR arm <> 'none' OR n >= 6 -- as `trial` asks of a price
    GROUP BY run_id, batch, arm
)
SELECT
    CASE
        WHEN platform LIKE '%-sock2x2' THEN 'sockets 2×2'
        WHEN platform LIKE '%-sock' THEN 'sockets'
        WHEN platform LIKE '%-host' THEN 'host memory'
        ELSE 'NVLink'
    END AS link,
    CASE WHEN workload <> 'trial' THEN 'replay' WHEN arm = 'none' THEN 'job' ELSE arm END AS kind,
    CASE
        WHEN bytes = 497495040 THEN 'nanoGPT'
        WHEN bytes = 2941485056 THEN 'GPT (FSDP2)'
        WHEN run_id IN (SELECT run_id FROM resnet) THEN 'ResNet-50'
        WHEN bytes IS NOT NULL THEN printf('%.0f MB a step', bytes / 1e6)
        WHEN label = 'ddp' THEN 'GPT-2'
        WHEN label = 'resnet' THEN 'ResNet-50'
        ELSE 'Llama slice (FSDP)'
    END
        || CASE
            WHEN workload <> 'trial' OR run_id IN (SELECT run_id FROM resnet)
                THEN ' batch ' || batch
            ELSE ''
        END AS job,
    1 - exp(iif(workload = 'trial', median, x)) AS price,
    1 - exp(iif(workload = 'trial', highest, x + error)) AS low,
    1 - exp(iif(workload = 'trial', lowest, x - error)) AS high, n, run_id, platform, workload,
    label, ranks
FROM price
ORDER BY arm IN ('half', 'one'), kind, link = 'NVLink', link = 'host memory', price DESC
