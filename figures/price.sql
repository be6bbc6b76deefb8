-- SPDX-License-Identifier: Apache-2.0
--
-- What communication costs, a row for each job and link: the share of the step that goes when
-- communication is left out (kind half: with half the bytes; one: with one element of each
-- collective), and its 95% interval (of fewer than 6 blocks: from the least to the greatest, which
-- covers less). In a job (trial) some blocks of steps run without it; in a replayed step mode
-- `compute` is the step without it. Of the logarithms of the ratios within blocks, as `gradsync tune`
-- prints it: for a job in one launch the median over its blocks, and the interval of its order
-- statistics (the k-th value from both ends); for a job in several launches the mean over them of
-- this median, and Student's t; for a replay the mean over its launches, and Student's t.
WITH resnet(run_id, batch) AS ( -- these recordings do not say the options of their program
    VALUES ('20261126T181225Z-1c53', '16'), ('20261126T181312Z-da1a', '16'),
        ('20261126T181402Z-77fb', '4'), ('20261126T181449Z-fbde', '4'),
        ('20261126T181536Z-ac86', '1'), ('20261126T181626Z-b602', '1')
),
job AS ( -- the trials that stand, of each command the one with the most launches; those of resnet do not say it
    SELECT run, size_B AS bytes,
        row_number() OVER (
            PARTITION BY platform, iif(command = '', run_id, command) ORDER BY launches DESC, run_id DESC
        ) AS place
    FROM run JOIN cell USING (run)
    WHERE workload = 'trial' AND config = 'none' AND platform GLOB 'h?00-*gpu-*'
        AND (run IN (SELECT run FROM standing) OR run_id IN (SELECT run_id FROM resnet) OR command <> '')
),
visit AS (
    SELECT r.platform, r.run_id, r.workload, r.ranks, r.label, b.launch, b.block, c.config, c.mode,
        (SELECT bytes FROM job WHERE job.run = r.run) AS bytes, r.command,
        replace(
            coalesce(
                (SELECT batch FROM resnet s WHERE s.run_id = r.run_id),
                iif(r.command GLOB '*--batch [0-9]*',
                    CAST(substr(r.command, instr(r.command, '--batch ') + 8) AS INTEGER), NULL),
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
    WHERE r.run IN (SELECT run FROM job WHERE place = 1) AND c.config IN ('auto', 'none', 'half', 'one')
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
    SELECT platform, v.run_id, workload, ranks, bytes, command, label, batch, v.config AS arm,
        launch, v.x - base AS x
    FROM visit v JOIN with_comm USING (run_id, batch, launch, block)
    WHERE v.config IS NOT 'auto'
),
of_launch AS (
    SELECT platform, run_id, workload, ranks, bytes, command, label, batch, arm, count(*) AS blocks,
        iif(workload = 'trial', median(x), avg(x)) AS x, median_low(x) AS lowest,
        median_high(x) AS highest
    FROM difference
    GROUP BY run_id, batch, arm, launch
),
price AS (
    SELECT platform, run_id, workload, ranks, bytes, command, label, batch, arm,
        iif(workload = 'trial', sum(blocks), count(*)) AS n, avg(x) AS x,
        iif(workload = 'trial' AND count(*) = 1, max(highest), avg(x) + mean_error(x)) AS highest,
        iif(workload = 'trial' AND count(*) = 1, min(lowest), avg(x) - mean_error(x)) AS lowest
    FROM of_launch
    GROUP BY run_id, batch, arm
    HAVING n >= iif(workload = 'trial' AND arm = 'none', 6, 2) -- as `tune` asks of a price
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
        WHEN run_id IN (SELECT run_id FROM resnet) OR command LIKE '%resnet50%' THEN 'ResNet-50'
        WHEN command LIKE '%--mode fsdp2%' THEN 'GPT (FSDP2)'
        WHEN command LIKE '%--width 2048%' THEN 'GPT 0.9B'
        WHEN command LIKE '%--width 768%' THEN 'GPT 162M'
        WHEN bytes IS NOT NULL THEN printf('%.0f MB a step', bytes / 1e6)
        WHEN label = 'ddp' THEN 'GPT-2'
        WHEN label = 'resnet' THEN 'ResNet-50'
        ELSE 'Llama slice (FSDP)'
    END
        || CASE
            WHEN workload <> 'trial' OR run_id IN (SELECT run_id FROM resnet)
                OR command LIKE '%resnet50%'
                THEN ' batch ' || batch
            ELSE ''
        END AS job,
    1 - exp(x) AS price, 1 - exp(highest) AS low, 1 - exp(lowest) AS high, n, run_id, platform, workload,
    label, ranks
FROM price
ORDER BY arm IN ('half', 'one'), kind, link = 'NVLink', link = 'host memory', price DESC
