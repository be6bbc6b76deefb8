-- SPDX-License-Identifier: Apache-2.0
--
-- The numbers of paper.tex: each row is one macro (runner/store/tex.h), \val{NAME}. numbers.sh runs
-- these queries. Tables that no recording has: limits (claims), needed (the model), again (verdicts of
-- a later recording beside those of an earlier one), model-error. The queries of contrasts.sql,
-- figures/price.sql and figures/links.sql are tables here. Where several macros of one form come from a
-- row, json_each() makes a row of each.

-- ---- method
-- A smaller change of the step is called equivalent.
SELECT 'method.equivalence', 'text', printf('%g%%', 100 * max(equivalence))
FROM compare;

-- Placebo: verdicts by times alone, where config and baseline ran the same operation (cells), and
-- where both are copies of the baseline (aa). All recordings count, not only those that stand.
-- `before` and `after`: in the first recordings of h200-2gpu the copies share a communicator.
WITH part(name, shown, platforms, workload, mode, first, last) AS (
    VALUES ('alone', 'aa', 'h200-*', 'nccl_allreduce', '', '', '9'),
        ('h200-2gpu', 'cells', 'h200-2gpu', 'nccl_allreduce', '', '', '9'),
        ('h200-4gpu', 'cells', 'h200-4gpu', 'nccl_allreduce', '', '', '9'),
        ('overlapped', 'cells aa rate', 'h200-*', 'iter_proxy', 'overlapped', '', '9'),
        ('before', 'cells rate', 'h200-2gpu', '*', '*', '', '20261122T2'),
        ('after', 'cells rate', 'h200-2gpu', '*', '*', '20261122T2', '9')
),
counted AS (
    SELECT name, shown, sum(contrasts) AS contrasts, sum(called) AS called, sum(aa) AS aa,
        sum(aa_called) AS aa_called
    FROM part JOIN placebo p ON platform GLOB platforms
            AND p.workload GLOB part.workload
            AND p.mode GLOB part.mode
            AND run_id > first
            AND run_id < last
            AND (name <> 'alone' OR platform <> 'h200-2gpu-collectives')
    GROUP BY name
)
SELECT 'placebo.' || name || '.' || key, iif(key = 'rate', 'percent', 'integer'), value
FROM counted
    JOIN json_each(
        json_object('cells', contrasts, 'called', called, 'rate', 1.0 * called / contrasts, 'aa', aa,
            'aa.called', aa_called))
WHERE shown GLOB '*' || iif(key = 'called', 'cells', iif(key = 'aa.called', 'aa', key)) || '*';

-- How many intervals of the same operation cover the truth, no effect.
SELECT 'placebo.cover.' || iif(mode = '', 'alone', mode), 'percent',
    avg(ratio_low <= 1 AND ratio_high >= 1)
FROM contrasts
WHERE platform = 'h200-2gpu'
    AND verdict = 'same operation'
    AND ratio IS NOT NULL
    AND mode IN ('', 'overlapped')
GROUP BY mode;

-- ---- platforms
SELECT 'recordings.dates', 'text', group_concat(date, ', ')
FROM (
        SELECT DISTINCT substr(started, 1, 10) AS date
        FROM run JOIN standing USING (run)
        WHERE platform GLOB 'h?00-*'
        ORDER BY 1
    );

SELECT 'platform.' || platform || '.ranks', 'text', group_concat(DISTINCT ranks)
FROM run
WHERE platform IN ('h200-2gpu', 'h200-4gpu')
GROUP BY platform;

-- The recordings on GPUs: their runs that stand, and the samples of each cell from the run that
-- stands for it. Left out: two sections that no config has any more, and nccl_allreduce of
-- h200-2gpu-collectives, which has three of five launches.
WITH measured AS (
    SELECT run.* FROM run JOIN standing USING (run) WHERE platform GLOB 'h?00-*'
),
fact(platform, fact, value) AS (
    SELECT platform, 'ranks', ranks FROM measured
    UNION
    SELECT platform, 'gpu', gpu FROM measured JOIN host USING (run)
    UNION
    SELECT platform, 'driver', driver FROM measured JOIN host USING (run)
    UNION
    SELECT platform, 'cuda', cuda FROM measured JOIN host USING (run)
    UNION
    SELECT platform, substr(key, 1, 4), value
    FROM measured JOIN note USING (run)
    WHERE key IN ('nccl', 'cuda_runtime', 'cuda_driver')
    UNION
    SELECT platform, key, value FROM measured JOIN note USING (run) WHERE key IN ('gpu', 'driver')
    ORDER BY 1, 2, 3
),
cells AS (
    SELECT s.platform, s.label, n, status
    FROM summary s JOIN standing USING (run)
    WHERE s.platform GLOB 'h?00-*'
        AND NOT (s.platform = 'h200-2gpu-collectives' AND s.workload = 'nccl_allreduce')
)
SELECT 'machine.' || platform || '.' || fact, 'text', group_concat(value, ', ')
FROM fact
WHERE value <> ''
GROUP BY platform, fact
UNION ALL
SELECT 'machine.' || platform || '.runs', 'integer', count(*) FROM measured GROUP BY platform
UNION ALL
SELECT 'machine.' || platform || '.samples', 'integer', sum(n)
FROM cells
WHERE status = 'ok'
    AND label IS NOT 'proof-1'
    AND (label IS NOT 'collectives' OR platform <> 'h200-4gpu')
GROUP BY platform
UNION ALL
SELECT 'platforms', 'rows',
    group_concat(
        platform || ' & \val{machine.' || platform || '.gpu} & \val{machine.' || platform
            || '.ranks} & \val{machine.' || platform || '.driver} & \val{machine.' || platform
            || '.cuda} & \val{machine.' || platform || '.nccl} & \val{machine.' || platform
            || '.runs} & \val{machine.' || platform || '.samples} \\' || char(10), '')
FROM (SELECT DISTINCT platform FROM measured ORDER BY platform);

-- ---- a training step: one bucket beside 1, 4 or 16 GEMMs
-- Verdicts of the synthetic step against NCCL's own choice, in the modes overlapped and comm (alone).
-- cells: steps; faster: steps in which a config is faster; price.slower: of these, those whose fastest
-- config is slower alone.
WITH synthetic AS (
    SELECT *,
        row_number() OVER (
            PARTITION BY platform, size, gemms
            ORDER BY iif(mode = 'overlapped' AND verdict = 'faster', ratio, 9), line) AS best
    FROM contrasts
    WHERE platform IN ('h200-2gpu', 'h200-4gpu') AND workload = 'iter_proxy' AND label = ''
),
steps AS (
    SELECT s.platform, s.size, s.gemms, max(s.verdict = 'faster') AS faster,
        max(s.best = 1 AND s.verdict = 'faster' AND a.verdict = 'slower') AS costs
    FROM synthetic s
        LEFT JOIN synthetic a ON a.platform = s.platform
            AND a.mode = 'comm'
            AND a.size = s.size
            AND a.gemms = s.gemms
            AND a.config = s.config
    WHERE s.mode = 'overlapped'
    GROUP BY 1, 2, 3
)
SELECT 'step.' || platform || '.' || key, 'integer', value
FROM (SELECT platform, count(*) AS n, sum(faster) AS faster, sum(costs) AS costs FROM steps GROUP BY platform)
    JOIN json_each(json_object('cells', n, 'faster', faster, 'price.slower', costs));

-- The largest gain in such a step (change), what its config is worth alone, and the exposed
-- communication with NCCL's own choice and with that config.
WITH top AS (
    SELECT *, row_number() OVER (PARTITION BY platform ORDER BY ratio, line) AS best
    FROM contrasts
    WHERE platform IN ('h200-2gpu', 'h200-4gpu')
        AND workload = 'iter_proxy'
        AND label = ''
        AND mode = 'overlapped'
        AND verdict = 'faster'
        AND ratio IS NOT NULL
)
SELECT 'top.' || platform || '.change', 'change', ratio, ratio_low, ratio_high, 'none'
FROM top
WHERE best = 1
UNION ALL
SELECT 'top.' || platform || '.' || key, iif(key = 'bytes', 'size', 'text'), value, NULL, NULL, 'none'
FROM top JOIN json_each(json_object('config', config, 'bytes', size_B, 'gemms', gemms))
WHERE best = 1
UNION ALL
SELECT 'top.' || t.platform || '.alone', 'change', a.ratio, a.ratio_low, a.ratio_high, 'none'
FROM top t
    LEFT JOIN contrasts a ON a.run = t.run
        AND a.mode = 'comm'
        AND a.size = t.size
        AND a.gemms = t.gemms
        AND a.config = t.config
WHERE best = 1
UNION ALL
SELECT 'top.' || t.platform || iif(i.config = 'auto', '.auto', '.config') || '.exposed', 'time',
    exposed_s, exposed_ci_low_s, exposed_ci_high_s, 'none'
FROM top t
    JOIN iteration i ON i.run = t.run
        AND i.config IN ('auto', t.config)
        AND param(i.params, 'size') = size
        AND param(i.params, 'gemms') = gemms
WHERE best = 1 AND t.platform = 'h200-4gpu';

-- The question itself: every config in the step against the one that is fastest alone (chosen). open:
-- steps without a faster config but with an inconclusive verdict; settled: the others without one.
WITH verdicts AS (
    SELECT c.*, param(params, 'size') AS size, param(params, 'gemms') AS gemms,
        row_number() OVER (
            PARTITION BY platform
            ORDER BY iif(verdict = 'faster', ratio, 9), sort, c.rowid) AS best
    FROM chosen c JOIN stamp USING (run) JOIN standing USING (run)
    WHERE platform IN ('h200-2gpu', 'h200-4gpu')
        AND workload = 'iter_proxy'
        AND label = ''
        AND mode = 'overlapped'
),
steps AS (
    SELECT platform, max(verdict = 'faster') AS faster, max(verdict = 'inconclusive') AS unsure
    FROM verdicts
    GROUP BY platform, size, gemms
)
SELECT 'chosen.' || platform || '.' || key, 'integer', value, NULL, NULL
FROM (
        SELECT platform, count(*) AS n, sum(faster) AS faster, sum(unsure AND NOT faster) AS open,
            sum(NOT unsure AND NOT faster) AS settled
        FROM steps
        GROUP BY platform
    )
    JOIN json_each(json_object('cells', n, 'faster', faster, 'open', open, 'settled', settled))
UNION ALL
SELECT 'chosen.' || platform || '.change', 'change', ratio, ratio_low, ratio_high
FROM verdicts
WHERE best = 1
UNION ALL
SELECT 'chosen.' || platform || '.' || key, iif(key = 'bytes', 'size', 'text'), value, NULL, NULL
FROM verdicts
    JOIN json_each(json_object('config', config, 'best', baseline, 'bytes', size_B, 'gemms', gemms))
WHERE best = 1;

-- Several buckets, each issued after its share of the GEMMs: how many steps, in how many of them a
-- config is faster, and how many have no faster config but an inconclusive verdict.
WITH steps AS (
    SELECT platform, size, max(verdict = 'faster') AS faster,
        max(verdict = 'inconclusive') AS unsure
    FROM contrasts
    WHERE platform GLOB 'h200-*'
        AND workload = 'iter_proxy'
        AND label = 'backward'
        AND mode = 'overlapped'
    GROUP BY platform, size
)
SELECT 'back.steps', 'integer', count(*) FROM steps
UNION ALL
SELECT 'back.beaten', 'integer', sum(faster) FROM steps
UNION ALL
SELECT 'back.inconclusive', 'integer', sum(unsure AND NOT faster) FROM steps
UNION ALL
SELECT DISTINCT 'back.' || key, 'text', param(params, key)
FROM iteration JOIN (SELECT 'buckets' AS key UNION SELECT 'gemms')
WHERE platform = 'h200-4gpu' AND label = 'backward';

-- The step whose exposed communication is told.
SELECT DISTINCT 'cta.size', 'size', size_B
FROM iteration JOIN standing USING (run)
WHERE platform = 'h200-4gpu' AND label = '' AND param(params, 'size') = '16MiB';

-- ---- measured again: the verdicts of a later recording beside those of the earlier one, where both
-- have five launches
WITH agreement AS (
    SELECT coalesce(nullif(mode, ''), 'alone') AS part, agreement
    FROM again
    WHERE platform = 'h200-4gpu' AND earlier_launches = 5
)
SELECT 'again.' || part || '.cells', 'integer', count(*)
FROM agreement
WHERE part IN ('alone', 'overlapped')
GROUP BY part
UNION ALL
SELECT 'again.overlapped.' || name, 'integer', sum(agreement = name)
FROM agreement JOIN (SELECT 'same' AS name UNION SELECT 'open' UNION SELECT 'contrary')
WHERE part = 'overlapped'
GROUP BY name;

-- The change of the step with the largest gain, in the earlier recording.
SELECT 'again.overlapped.earlier', 'change', earlier_ratio, earlier_ratio_low, earlier_ratio_high,
    'none'
FROM again a
    JOIN contrasts c ON a.run_id = c.run_id
        AND a.mode = c.mode
        AND a.config = c.config
        AND param(a.params, 'size') = c.size
        AND param(a.params, 'gemms') = c.gemms
WHERE c.platform = 'h200-4gpu' AND c.mode = 'overlapped' AND c.label = '' AND c.verdict = 'faster'
ORDER BY c.ratio, line
LIMIT 1;
SELECT 'again.whole', 'rows', '\val{again.overlapped.earlier}' || char(10);

-- ---- recorded steps, trials and training runs on two H200s: a row for each step. Settings of a step
-- in mode overlapped; a step is one run, batch and way of launching.
WITH ladder AS (
    SELECT *,
        run_id || '.' || coalesce(CAST(batch AS INTEGER), 'none') || coalesce(launch, '') AS id,
        coalesce(
            replace(replace(replace(replace(replace(replace(replace(replace(
                param(params, 'step'), 'configs/steps/', ''), '.step', ''), '-ddp', ', DDP'),
                '-fsdp', ', FSDP'), 'gpt2-124m', 'GPT-2'), 'gpt-', 'GPT '), 'resnet50', 'ResNet-50'),
                'llama-1b-slice', 'Llama slice')
                || coalesce(', batch ' || CAST(batch AS INTEGER), '')
                || iif(launch = 'graph', ', graph', ''),
            iif(level = 'trial', 'PyTorch job', 'PyTorch job, launched anew')) AS step
    FROM contrasts
    WHERE level IN ('step', 'trial', 'training')
        AND platform GLOB 'h200-*'
        AND ratio IS NOT NULL
        AND mode IN ('', 'overlapped')
),
steps AS (
    SELECT id, level, step, size_B, min(line) AS line, count(*) AS contrasts,
        sum(verdict = 'faster') AS faster, sum(verdict = 'slower') AS slower,
        sum(verdict = 'equivalent') AS equivalent, sum(verdict = 'inconclusive') AS open,
        sum(verdict = 'same operation') AS same, max(iif(config = 'ctas=8', ratio, NULL)) AS few,
        max(iif(config = 'ctas=8', ratio_low, NULL)) AS few_low,
        max(iif(config = 'ctas=8', ratio_high, NULL)) AS few_high
    FROM ladder
    GROUP BY id
    ORDER BY level = 'training', level = 'trial', size_B, line
)
SELECT 'ladder.' || steps.id || '.' || key, iif(key IN ('level', 'step', 'size'), 'text', 'integer'), value,
    NULL, NULL, NULL
FROM steps
    JOIN json_each(
        json_object('level', level, 'step', step, 'size',
            coalesce(CAST(round(nullif(size_B, 0) / 1048576.0) AS INTEGER) || ' MiB', '--'),
            'contrasts', contrasts, 'faster', faster, 'slower', slower, 'equivalent', equivalent,
            'open', open, 'same', same))
UNION ALL
SELECT 'ladder.' || id || '.few', 'change', few, few_low, few_high, '--' FROM steps
UNION ALL
SELECT 'ladder', 'rows',
    group_concat(
        '\val{ladder.' || id || '.level} & \val{ladder.' || id || '.step} & \val{ladder.' || id
            || '.size} & \val{ladder.' || id || '.contrasts} & \val{ladder.' || id
            || '.faster} & \val{ladder.' || id || '.slower} & \val{ladder.' || id
            || '.equivalent} & \val{ladder.' || id || '.open} & \val{ladder.' || id
            || '.same} & \val{ladder.' || id || '.few} \\' || char(10), ''), NULL, NULL, NULL
FROM steps
UNION ALL
SELECT 'ladder.' || key, 'integer', value, NULL, NULL, NULL
FROM json_each((
        SELECT json_object('contrasts', sum(contrasts), 'faster', sum(faster), 'slower', sum(slower),
            'equivalent', sum(equivalent), 'open', sum(open))
        FROM steps))
UNION ALL
SELECT DISTINCT 'ladder.few', 'text', config, NULL, NULL, NULL FROM ladder WHERE config = 'ctas=8';

-- The same contrasts on two H100s, by verdict.
WITH h100 AS (
    SELECT verdict
    FROM contrasts
    WHERE level IN ('step', 'trial', 'training')
        AND platform = 'h100-2gpu-steps'
        AND ratio IS NOT NULL
        AND mode IN ('', 'overlapped')
)
SELECT 'h100.contrasts', 'integer', count(*) FROM h100
UNION ALL
SELECT 'h100.' || name, 'integer', sum(verdict = name)
FROM h100
    JOIN (
        SELECT 'faster' AS name UNION SELECT 'slower' UNION SELECT 'equivalent' UNION
        SELECT 'inconclusive')
GROUP BY name;

-- The setting with the highest bandwidth in the replayed steps of two H200s (lost) and two H100s (bw):
-- how many steps, in how many of them another setting is faster (beaten), and on the H100s by how much
-- the default is faster at most, and which settings it beats.
WITH replayed AS (
    SELECT c.*,
        label || coalesce(', ' || param(params, 'batch'), '')
            || coalesce(', ' || param(params, 'launch'), '') AS step
    FROM chosen c JOIN standing USING (run)
    WHERE level = 'step' AND mode = 'overlapped'
),
counted AS (
    SELECT platform, count(DISTINCT step) AS steps,
        count(DISTINCT iif(verdict = 'faster', step, NULL)) AS beaten
    FROM replayed
    GROUP BY platform
)
SELECT iif(platform GLOB 'h200-*', 'lost.', 'bw.h100.') || key, 'integer', value, NULL, NULL
FROM counted JOIN json_each(json_object('steps', steps, 'beaten', beaten))
WHERE platform IN ('h200-2gpu-steps', 'h100-2gpu-steps')
UNION ALL
SELECT 'bw.h100.most', 'percent', 1 - min(ratio), 1 - ratio_high, 1 - ratio_low
FROM replayed
WHERE platform = 'h100-2gpu-steps' AND verdict = 'faster' AND config = 'auto'
UNION ALL
SELECT 'bw.h100.config', 'text', group_concat(baseline, ', '), NULL, NULL
FROM (
        SELECT DISTINCT baseline
        FROM replayed
        WHERE platform = 'h100-2gpu-steps' AND verdict = 'faster'
        ORDER BY 1
    );

-- The buckets of 100 MiB for which a training was launched anew.
SELECT DISTINCT 'launched.' || key, 'text', value
FROM contrasts JOIN json_each(json_object('baseline', baseline, 'config', config))
WHERE level = 'training' AND config = 'bucket_cap=100' AND platform = 'h200-2gpu-steps';

-- ---- tiles of the GEMM: what a count of 256 x 128 tiles predicts for 8 and 16 CTAs, and what was
-- measured (layouts nt and nn). An H200 has 132 SMs; CTAs that do not fit into those that the last
-- wave of tiles leaves free cost one more wave.
WITH tile AS (
    SELECT c.*, param(params, 'layout') AS layout,
        param(params, 'gemm_m') / 256 * (param(params, 'gemm_n') / 128) AS tiles,
        CAST(substr(config, 6) AS INTEGER) AS ctas,
        CAST(substr(baseline_ran, instr(baseline_ran, 'ctas=') + 5) AS INTEGER) AS auto_ctas
    FROM contrasts c
    WHERE label = 'tiles' AND mode = 'overlapped'
),
predicted AS (
    SELECT *, (132 - tiles % 132) % 132 AS free,
        CASE
            WHEN ctas <= (132 - tiles % 132) % 132 AND auto_ctas > (132 - tiles % 132) % 132
                THEN 1.0 * ((tiles + 131) / 132) / ((tiles + 263) / 132)
            ELSE 1.0
        END AS count
    FROM tile
),
shown AS (
    SELECT a.*, b.count AS count16, b.ratio AS nt16, b.ratio_low AS nt16_low,
        b.ratio_high AS nt16_high, c.ratio AS nn8, c.ratio_low AS nn8_low, c.ratio_high AS nn8_high
    FROM predicted a
        LEFT JOIN predicted b ON b.tiles = a.tiles AND b.layout = 'nt' AND b.config = 'ctas=16'
        LEFT JOIN predicted c ON c.tiles = a.tiles AND c.layout = 'nn' AND c.config = 'ctas=8'
    WHERE a.layout = 'nt' AND a.config = 'ctas=8'
    ORDER BY a.line
)
SELECT 'tile.' || line || '.' || key, 'integer', value, NULL, NULL, NULL
FROM shown JOIN json_each(json_object('tiles', tiles, 'free', free))
UNION ALL
SELECT 'tile.' || line || '.count8', 'change', count, NULL, NULL, NULL FROM shown
UNION ALL
SELECT 'tile.' || line || '.nt8', 'change', ratio, ratio_low, ratio_high, '\leftout' FROM shown
UNION ALL
SELECT 'tile.' || line || '.nn8', 'change', nn8, nn8_low, nn8_high, '\leftout' FROM shown
UNION ALL
SELECT 'tile.' || line || '.count16', 'change', count16, NULL, NULL, '\leftout' FROM shown
UNION ALL
SELECT 'tile.' || line || '.nt16', 'change', nt16, nt16_low, nt16_high, '\leftout' FROM shown
UNION ALL
SELECT 'tiles', 'rows',
    group_concat(
        '\val{tile.' || line || '.tiles} & \val{tile.' || line || '.free} & \val{tile.' || line
            || '.count8} & \val{tile.' || line || '.nt8} & \val{tile.' || line
            || '.nn8} & \val{tile.' || line || '.count16} & \val{tile.' || line || '.nt16} \\'
            || char(10), ''), NULL, NULL, NULL
FROM shown
UNION ALL
SELECT DISTINCT iif(ctas = 8, 'tiles.few', 'tiles.more'), 'text', config, NULL, NULL, NULL
FROM tile
WHERE ctas IN (8, 16);

-- ---- larger buckets of one DDP job, replayed and launched anew: how many contrasts (n), how many whose
-- interval is below no change (shorter), and the least and the most gain
WITH small AS (
    SELECT *,
        CASE
            WHEN level = 'training' THEN 'by PyTorch'
            WHEN launch = 'graph' THEN 'as a CUDA graph'
            ELSE 'in streams'
        END AS way
    FROM contrasts
    WHERE config GLOB 'bucket_cap=100*'
        AND platform GLOB 'h?00-2gpu-steps'
        AND ratio IS NOT NULL
        AND (label = 'gpt-12x1024-ddp' AND mode = 'overlapped' OR level = 'training')
    ORDER BY level, platform, line
)
SELECT 'small.' || line || '.' || key, 'text', value, NULL, NULL
FROM small JOIN json_each(json_object('platform', platform, 'level', level, 'launch', way))
UNION ALL
SELECT 'small.' || line || '.change', 'change', ratio, ratio_low, ratio_high FROM small
UNION ALL
SELECT 'small', 'rows',
    group_concat(
        '\val{small.' || line || '.platform} & \val{small.' || line || '.level} & \val{small.'
            || line || '.launch} & \val{small.' || line || '.change} \\' || char(10), ''), NULL, NULL
FROM small
UNION ALL
SELECT 'small.n', 'integer', count(*), NULL, NULL FROM small
UNION ALL
SELECT 'small.shorter', 'integer', sum(ratio_high < 1), NULL, NULL FROM small
UNION ALL
SELECT 'small.' || key, 'percent', value, NULL, NULL
FROM json_each((SELECT json_object('least', 1 - max(ratio), 'most', 1 - min(ratio)) FROM small));

-- ---- the price of communication, the share of the step that goes without it (figures/price.sql)
WITH wanted(name, kind, ranks, link, job) AS (
    VALUES ('job.NVLink', 'job', 2, 'NVLink', 'nanoGPT'),
        ('job.sockets', 'job', 2, 'sockets', 'nanoGPT'),
        ('half.sockets', 'half', 2, 'sockets', 'nanoGPT'),
        ('one.sockets', 'one', 2, 'sockets', 'nanoGPT'),
        ('resnet.16', 'job', 2, 'sockets', 'ResNet-50 batch 16'),
        ('resnet.1', 'job', 2, 'sockets', 'ResNet-50 batch 1'),
        ('four.NVLink', 'job', 4, 'NVLink', 'nanoGPT'),
        ('four.host', 'job', 4, 'host memory', 'nanoGPT'),
        ('four.sockets', 'job', 4, 'sockets', 'nanoGPT'),
        ('four.tuned', 'job', 4, 'sockets 2×2', 'nanoGPT'),
        ('four.fsdp', 'job', 4, 'host memory', 'GPT (FSDP2)')
)
SELECT 'price.' || name, 'percent', price, low, high
FROM wanted JOIN price USING (kind, ranks, link, job)
UNION ALL
SELECT 'price.step.' || key, 'percent', value, NULL, NULL
FROM json_each((SELECT json_object('most', max(price), 'least', min(price)) FROM price WHERE kind = 'replay'));

-- ---- settings inside running jobs on two H200s (paper/in_job.sql), without an interval
WITH wanted(name, link, job, setting) AS (
    VALUES ('ctas.alone', 'NVLink', 'GPT 162M, alone', 'MIN_CTAS=32'),
        ('ctas', 'NVLink', 'GPT 162M', 'MIN_CTAS=32'),
        ('few.alone', 'NVLink', 'GPT 162M, alone', 'MAX_CTAS=8'),
        ('few', 'NVLink', 'GPT 162M', 'MAX_CTAS=8'),
        ('host.16', 'host memory', 'GPT 162M', 'MIN_NCHANNELS=16'),
        ('host.24', 'host memory', 'GPT 162M', 'MIN_NCHANNELS=24'),
        ('host.library', 'host memory', 'GPT 162M', 'NCCL 2.30.7'),
        ('sock', 'sockets', 'GPT 162M', '2 x 2')
)
SELECT 'injob.' || name, 'change', 1 + change / 100.0, NULL, NULL
FROM wanted JOIN in_job USING (link, job, setting)
UNION ALL
SELECT 'injob.' || name || '.launches', 'integer', launches, NULL, NULL
FROM wanted JOIN in_job USING (link, job, setting)
WHERE name IN ('ctas', 'host.16', 'sock');

-- ---- sockets over loopback: threads, and sockets of each; the change of the all-reduce alone beside
-- that of the step
WITH grid AS (
    SELECT line, replace(substr(g.config, 22), '/NCCL_NSOCKS_PERTHREAD=', ', ') AS setting,
        g.ratio, g.ratio_low, g.ratio_high, g.verdict, a.ratio AS alone, a.ratio_low AS alone_low,
        a.ratio_high AS alone_high, a.verdict AS alone_verdict
    FROM contrasts g
        LEFT JOIN compare a ON a.platform = g.platform AND a.label = 'alone' AND a.config = g.config
    WHERE g.platform = 'h100-2gpu-sock' AND g.label = 'nanogpt'
    ORDER BY line
)
SELECT 'grid.' || line || '.' || key, 'text', value, NULL, NULL
FROM grid
    JOIN json_each(json_object('setting', setting, 'verdict', verdict, 'alone.verdict', alone_verdict))
UNION ALL
SELECT 'grid.' || line || '.change', 'change', ratio, ratio_low, ratio_high FROM grid
UNION ALL
SELECT 'grid.' || line || '.alone', 'change', alone, alone_low, alone_high FROM grid
UNION ALL
SELECT 'sockgrid', 'rows',
    group_concat(
        '\val{grid.' || line || '.setting} & \val{grid.' || line || '.alone} & \val{grid.' || line
            || '.alone.verdict} & \val{grid.' || line || '.change} & \val{grid.' || line
            || '.verdict} \\' || char(10), ''), NULL, NULL
FROM grid
UNION ALL
SELECT 'sock.launches', 'integer', max(launches), NULL, NULL
FROM contrasts
WHERE platform = 'h100-2gpu-sock' AND label = 'nanogpt'
UNION ALL
SELECT 'sock.bytes', 'size', max(CAST(param(params, 'bytes') AS INTEGER)), NULL, NULL
FROM contrasts
WHERE platform = 'h100-2gpu-sock' AND label = 'alone'
UNION ALL
SELECT DISTINCT 'sock.platform', 'text', platform, NULL, NULL
FROM contrasts
WHERE platform = 'h100-2gpu-sock';

-- The step on four GPUs with the default and with two threads of two sockets each.
SELECT iif(config GLOB '*=unset', 'four.sock.auto', 'four.sock.best'), 'time', median_s
FROM summary
WHERE platform = 'h200-4gpu-sock'
    AND label = 'nanogpt'
    AND config IN (
        'NCCL_SOCKET_NTHREADS=unset', 'NCCL_SOCKET_NTHREADS=2/NCCL_NSOCKS_PERTHREAD=2');

-- Single contrasts, each with its change, config, verdict or launches. `proof` is what tune proved on
-- the first day, `proof.again` the same on the second; `switch` is a switch of PyTorch.
WITH wanted(name, shown, platform, label, run, config) AS (
    VALUES ('proof', 'change verdict launches', 'h100-2gpu-sock', 'proof', '20261125*',
            'NCCL_P2P_DISABLE=unset'),
        ('proof.again', 'again', 'h100-2gpu-sock', 'proof', '20261126*', 'NCCL_P2P_DISABLE=unset'),
        ('more.proof', 'change', 'h100-2gpu-sock', 'proof', '*',
            'NCCL_SOCKET_NTHREADS=2/NCCL_NSOCKS_PERTHREAD=8'),
        ('more.buffsize', 'change setting', 'h100-2gpu-sock', 'nanogpt-more', '*',
            'NCCL_BUFFSIZE=*'),
        ('more.channels', 'change setting', 'h100-2gpu-sock', 'nanogpt-more', '*',
            'NCCL_MIN_NCHANNELS=*'),
        ('more.best', 'change', 'h100-2gpu-sock', 'nanogpt-more', '*',
            'NCCL_SOCKET_NTHREADS=2/NCCL_NSOCKS_PERTHREAD=8*'),
        ('host', 'change setting verdict launches', 'h100-2gpu-host', 'nanogpt', '*-fd7e',
            'NCCL_MIN_NCHANNELS=16'),
        ('host.simple', 'change setting', 'h100-2gpu-host', 'nanogpt', '*-fd7e',
            'NCCL_PROTO=Simple'),
        ('bucket.100', 'change setting verdict', 'h100-2gpu-sock', 'buckets', '*',
            'bucket_cap=100'),
        ('bucket.200', 'change setting verdict', 'h100-2gpu-sock', 'buckets', '*',
            'bucket_cap=200'),
        ('switch', 'change setting launches', 'h100-2gpu-host', 'proof', '*', 'torch:*')
),
found AS (
    SELECT name, shown, c.*
    FROM wanted w JOIN compare c ON c.platform = w.platform
            AND c.label = w.label
            AND c.run_id GLOB w.run
            AND c.config GLOB w.config
)
SELECT name || iif(shown = 'again', '', '.change'), 'change', ratio, ratio_low, ratio_high
FROM found
UNION ALL
SELECT name || '.setting', 'text', replace(config, 'torch:', ''), NULL, NULL
FROM found
WHERE shown GLOB '*setting*'
UNION ALL
SELECT name || '.verdict', 'text', verdict, NULL, NULL FROM found WHERE shown GLOB '*verdict*'
UNION ALL
SELECT name || '.launches', 'integer', launches, NULL, NULL FROM found WHERE shown GLOB '*launches*';

-- The settings of the second grid over sockets, and those that were faster than the default.
SELECT 'more.settings', 'integer', count(*)
FROM contrasts
WHERE platform = 'h100-2gpu-sock' AND label = 'nanogpt-more'
UNION ALL
SELECT 'more.faster', 'integer', sum(verdict = 'faster')
FROM contrasts
WHERE platform = 'h100-2gpu-sock' AND label = 'nanogpt-more';

-- ---- host memory: the bandwidth of 16 channels against the default (figures/links.sql), and the step
-- with two sizes of DDP's buckets
SELECT 'host.bandwidth', 'change', max(iif(setting = '16 channels', bw, 0)) / max(iif(setting = 'default', bw, 0))
FROM links
WHERE kind = 'point' AND panel = 3
UNION ALL
SELECT 'host.bytes', 'size', min(CAST(param(params, 'bytes') AS INTEGER))
FROM contrasts
WHERE platform = 'h100-2gpu-host' AND label = 'alone-buckets'
UNION ALL
SELECT 'bucket.' || substr(config, 12) || '.host', 'time', median_s
FROM summary
WHERE platform = 'h100-2gpu-host'
    AND label = 'buckets'
    AND config IN ('bucket_cap=25', 'bucket_cap=200');

-- ---- between sites: the audit of a published plan, by the model
WITH audit AS (
    SELECT rowid + 1 AS line, verdict, substr(claim, 1, instr(claim, ' = ') - 1) AS key,
        replace(replace(replace(replace(
            substr(claim, instr(claim, ' = ') + 3), '..', ' to '), 'e3', ' thousand'), 'e6',
            ' million'), 'e9', ' billion') AS value,
        replace(
            replace(physics, 'this config', 'this plan'), ' of claim.tokens_per_s', ' claimed') AS why
    FROM limits
    WHERE kind = 'published' AND platform = 'wan-4site'
    ORDER BY rowid
),
word(key, words) AS (
    VALUES ('gpu_tokens_per_s', 'tokens/s of one GPU'),
        ('ideal_tokens_per_s', 'tokens/s of all GPUs in one place'),
        ('ideal_time', 'training in one place'), ('sync_bytes', 'bytes that a site sends'),
        ('pair_bytes', 'bytes between two sites'), ('sync_time', 'a synchronisation'),
        ('rtt', 'round trip'), ('efficiency', 'share of compute'),
        ('slowdown', 'share lost to the network'), ('tokens_per_s', 'tokens/s'),
        ('time', 'training'), ('step_time', 'a step'), ('worst_tokens_per_s', 'tokens/s at worst'),
        ('worst_time', 'training at worst'), ('nccl_buffsize', 'bytes of an NCCL buffer')
)
SELECT 'audit.' || line || '.claim', 'text', words || ': ' || value FROM audit JOIN word USING (key)
UNION ALL
SELECT 'audit.' || line || '.' || j.key, 'text', j.value
FROM audit JOIN json_each(json_object('verdict', verdict, 'why', why)) j
UNION ALL
SELECT 'audit', 'rows',
    group_concat(
        '\val{audit.' || line || '.claim} & \val{audit.' || line || '.verdict} & \val{audit.'
            || line || '.why} \\' || char(10), '')
FROM audit
UNION ALL
SELECT 'audit.' || key, 'integer', value
FROM json_each((
        SELECT json_object('claims', count(*), 'impossible', sum(verdict = 'impossible')) FROM audit));

-- The bandwidth that the model needs, against published points: how many, and the largest and the
-- smallest ratio.
WITH point AS (
    SELECT m.rate_bps / p.rate_bps AS ratio
    FROM needed p
        LEFT JOIN needed m ON m.kind = 'model'
            AND m.schedule = p.schedule
            AND m.utilisation = p.utilisation
    WHERE p.kind = 'published'
)
SELECT 'need.points', 'integer', count(*) FROM point
UNION ALL
SELECT 'need.' || key, 'times', value
FROM json_each((SELECT json_object('most', max(ratio), 'least', min(ratio)) FROM point));

-- What was asked of each network of the laboratory: launches, and blocks of each.
SELECT 'asked.wan-lab.' || key, 'text',
    CAST(substr(config_text, instr(config_text, char(10) || key || ' = ') + length(key) + 4, 3) AS INTEGER)
FROM run JOIN (SELECT 'launches' AS key UNION SELECT 'blocks')
WHERE platform = 'wan-lab-100-10'
GROUP BY key;

-- Synchronisations alone, without training between them: those that the model predicts (modelled), and
-- those within 25% (near); the networks, and the numbers of ranks.
WITH lab AS (
    SELECT w.*
    FROM wan w JOIN standing USING (run)
),
alone AS (
    SELECT sync_s / model_sync_s AS ratio
    FROM lab
    WHERE sync_s IS NOT NULL AND efficiency IS NULL AND launches > 2
)
SELECT 'lab.modelled', 'integer', count(ratio) FROM alone
UNION ALL
SELECT 'lab.near', 'integer', sum(ratio BETWEEN 0.8 AND 1.25) FROM alone
UNION ALL
SELECT 'lab.networks', 'integer', count(DISTINCT platform) FROM lab WHERE sync_s IS NOT NULL
UNION ALL
SELECT 'lab.ranks', 'text', group_concat(ranks, ', ')
FROM (SELECT DISTINCT ranks FROM lab WHERE sync_s IS NOT NULL ORDER BY 1);

WITH cells AS (
    SELECT n
    FROM summary s JOIN standing USING (run)
    WHERE s.platform GLOB 'wan-lab*' AND status = 'ok'
)
SELECT 'lab.samples', 'integer', sum(n) FROM cells;

-- The error of the model over all networks, of the measured time (figures/wan_errors.sql).
SELECT 'lab.error.' || substr(network, 5, length(network) - 9) || key, 'percent', value
FROM "model-error" JOIN json_each(json_object('', median_error, '.worst', worst_error))
WHERE network GLOB 'all *';

-- A pair is a network and a size: MPI's own all-reduce, the fastest of ours that send every bit of the
-- sum (best), its bound, and its verdict against MPI; `ring` is the verdict on our ring. pairs: those
-- with such a verdict; tuned: where both use BBR, of which the table has the rows.
WITH lab AS (
    SELECT w.*, w.rowid AS line
    FROM wan w JOIN standing USING (run)
),
alone AS (
    SELECT *,
        row_number() OVER (
            PARTITION BY platform, size_B
            ORDER BY wire = 'fp32' AND strategy <> 'mpi' AND sync_s IS NOT NULL DESC, sync_s, line)
            AS rank
    FROM lab
    WHERE efficiency IS NULL
),
best AS (
    SELECT * FROM alone WHERE rank = 1 AND wire = 'fp32' AND strategy <> 'mpi' AND sync_s IS NOT NULL
),
verdicts AS (
    SELECT platform, run_id, size_B, config, ratio, ratio_low, ratio_high, verdict
    FROM contrasts
    WHERE workload = 'wan_sync' AND baseline = 'strategy=mpi'
),
pair AS (
    SELECT b.platform, b.size_B, b.config AS best, b.bound_s, b.sync_s, b.sync_ci_low_s,
        b.sync_ci_high_s, m.sync_s AS mpi, m.sync_ci_low_s AS mpi_low, m.sync_ci_high_s AS mpi_high,
        v.ratio, v.ratio_low, v.ratio_high, v.verdict, r.verdict AS ring,
        b.platform GLOB '*bbr*' AS tuned
    FROM best b
        LEFT JOIN alone m ON m.platform = b.platform AND m.size_B = b.size_B AND m.strategy = 'mpi'
        LEFT JOIN verdicts v ON v.run_id = b.run_id AND v.size_B = b.size_B AND v.config = b.config
        LEFT JOIN verdicts r ON r.run_id = b.run_id AND r.size_B = b.size_B AND r.config = 'ring'
),
network AS (
    SELECT platform, min(line) AS first FROM lab WHERE platform GLOB '*bbr*' GROUP BY platform
),
size(bytes) AS (VALUES (65536), (1048576), (4194304), (16777216), (67108864), (268435456)),
row AS (
    SELECT n.platform, first, bytes, 'net.' || n.platform || '.' || bytes AS name, p.*
    FROM network n JOIN size LEFT JOIN pair p ON p.platform = n.platform AND p.size_B = bytes
    ORDER BY first, bytes
)
SELECT name || '.best', 'text', best, NULL, NULL, '--' FROM row
UNION ALL
SELECT name || '.size', 'size', size_B, NULL, NULL, '--' FROM row
UNION ALL
SELECT name || '.bound', 'time', bound_s, NULL, NULL, '--' FROM row
UNION ALL
SELECT name || '.sync', 'time', sync_s, sync_ci_low_s, sync_ci_high_s, '--' FROM row
UNION ALL
SELECT name || '.mpi', 'time', mpi, mpi_low, mpi_high, '--' FROM row
UNION ALL
SELECT name || '.change', 'change', ratio, ratio_low, ratio_high, '--' FROM row
UNION ALL
SELECT 'tuned', 'rows',
    group_concat(
        '\present{' || name || '.best}{\gap{' || platform || '}\once{' || platform || '}{\short{'
            || platform || '}} & \val{' || name || '.size} & \val{' || name || '.bound} & \val{'
            || name || '.mpi} & \val{' || name || '.best} & \val{' || name || '.sync} & \val{'
            || name || '.change} \\}' || char(10), ''), NULL, NULL, NULL
FROM row
UNION ALL
SELECT iif(one.tuned, 'tuned.', 'net.') || key, 'integer', value, NULL, NULL, NULL
FROM (
        SELECT false AS tuned UNION SELECT true
    ) one
    JOIN json_each((
        SELECT json_object('pairs', count(ratio), 'faster', sum(verdict = 'faster'), 'slower',
            sum(verdict = 'slower'), 'ring.pairs', count(ring), 'ring.faster', sum(ring = 'faster'),
            'ring.slower', sum(ring = 'slower'))
        FROM pair
        WHERE pair.tuned >= one.tuned))
WHERE NOT one.tuned OR key <> 'pairs';
