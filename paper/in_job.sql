-- SPDX-License-Identifier: Apache-2.0
--
-- Settings inside running jobs (`gradsync tune --proof 0`), a row for each: how much longer the step is than that of
-- the job as it is, in per cent. In a launch: the median over the blocks of the ratio within a block, against the mean
-- of both visits of the job as it is. `change` is the mean over the launches, `least` and `most` are those of one
-- launch. `alone`: the all-reduces of the same job without its computation.
WITH visit AS (
    SELECT run, platform, launch, block, config, avg(ln(time_ns)) AS x,
        CASE
            WHEN command LIKE '%resnet50%'
                THEN 'ResNet-50, batch ' || CAST(substr(command, instr(command, '--batch ') + 8) AS INTEGER)
            WHEN command LIKE '%--mode fsdp2%' THEN 'GPT, FSDP2'
            WHEN command LIKE '%--width 2048%' THEN 'GPT 0.9B'
            ELSE 'GPT 162M'
        END || iif(command LIKE '%--alone%', ', alone', '') AS job
    FROM run JOIN cell USING (run) JOIN block USING (run, cell_id) JOIN sample USING (run, seq)
    WHERE workload = 'trial' AND platform IN ('h200-2gpu-nvlink', 'h200-2gpu-host', 'h200-2gpu-sock')
    GROUP BY run, launch, block, config, copy
),
base AS (
    SELECT run, launch, block, avg(x) AS base FROM visit WHERE config = 'auto' GROUP BY 1, 2, 3
),
of_launch AS (
    SELECT run, platform, job, config, launch, count(*) AS blocks, median(x - base) AS x
    FROM visit JOIN base USING (run, launch, block)
    WHERE config NOT IN ('auto', 'half', 'one')
    GROUP BY 1, 2, 3, 4, 5
)
SELECT CASE substr(platform, 11) WHEN 'nvlink' THEN 'NVLink' WHEN 'host' THEN 'host memory' ELSE 'sockets' END AS link,
    job,
    replace(
        replace(
            CASE
                WHEN config = 'none' THEN 'no communication'
                WHEN config = 'control' THEN 'copy, nothing changed'
                WHEN config LIKE '%2.30.7%' THEN 'NCCL 2.30.7'
                WHEN config LIKE 'library=%' THEN 'NCCL 2.28.3'
                ELSE replace(config, 'NCCL_', '')
            END,
            'SOCKET_NTHREADS=', ''), '/NSOCKS_PERTHREAD=', ' x ') AS setting,
    count(*) AS launches, sum(blocks) AS blocks, printf('%+.1f', 100 * (exp(avg(x)) - 1)) AS change,
    printf('%+.1f', 100 * (exp(min(x)) - 1)) AS least, printf('%+.1f', 100 * (exp(max(x)) - 1)) AS most
FROM of_launch
GROUP BY run, config
ORDER BY link = 'sockets', link = 'host memory', job, run, avg(x)
