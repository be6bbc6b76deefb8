-- SPDX-License-Identifier: Apache-2.0
--
-- What each training step of the platform :of loses by the config with the highest bandwidth.
--   chosen     has that config as its baseline. The step's best config is the one that is
--                 faster by verdict, with the largest lower bound; without one, the one with the
--                 lowest ratio.
--   compare    has the steps whose bandwidth was not measured (trials, trainings, steps recorded
--                 without operations alone). They show what the baseline loses;
--                 synthetic ones only where there is nothing else. If there is no bandwidth at all, they
--                 show what the best other config changes.
-- The runs that stand are drawn. Of tune, each proof is a row: the jobs of two may differ. A race is counted, and a price is left
-- out: its arms are no settings.
WITH kind(level, l, words) AS (
    VALUES ('synthetic', 1, 'synthetic steps'), ('step', 2, 'replayed steps'),
        ('trial', 3, 'trials inside a job'), ('training', 4, 'trainings')
),
measured AS (
    SELECT *, run_id GLOB '*-tune-*' AS race, run_id GLOB '*-proof-*' AS proof
    FROM (
        SELECT c.*, 0 AS chosen, row_number() OVER (ORDER BY sort, c.rowid) AS place
        FROM compare c JOIN stamp USING (run) JOIN standing USING (run)
        UNION ALL
        SELECT c.*, 1, row_number() OVER (ORDER BY sort, c.rowid)
        FROM chosen c JOIN stamp USING (run) JOIN standing USING (run)
    )
    WHERE platform = :of
        AND (mode = 'overlapped' OR level GLOB 'tr*' AND NOT chosen)
        AND level IS NOT 'price'
),
contrast AS (
    SELECT row_number() OVER (ORDER BY chosen, place) AS i, *,
        level || char(31) || workload || char(31) || label
            || CASE WHEN proof THEN char(31) || run_id ELSE '' END AS section
    FROM measured
    WHERE NOT race
),
word AS (
    SELECT i, section, key AS nth, value AS word,
        CASE instr(value, '=')
            WHEN 0 THEN value
            ELSE substr(value, 1, instr(value, '=') - 1)
        END AS key,
        substr(value, instr(value, '=') + 1) AS value
    FROM contrast, json_each('[' || replace(json_quote(by_name(params)), ' ', '","') || ']')
    WHERE value <> ''
),
-- The label of a training's config holds its settings, whatever they are called.
setting AS (
    SELECT DISTINCT section,
        CASE instr(part, '=')
            WHEN 0 THEN word.key
            ELSE substr(part, 1, instr(part, '=') - 1)
        END AS key
    FROM (
        SELECT i, section, value AS part
        FROM contrast, json_each(
            '[' || replace(json_quote(config || '/' || baseline), '/', '","') || ']')
        WHERE level = 'training'
    )
        LEFT JOIN word USING (i, section)
    WHERE instr(part, '=') OR word.value = part
),
of_step AS (
    SELECT i, section, group_concat(word, ' ') AS text
    FROM (
        SELECT *
        FROM word
        WHERE key NOT IN (
                'mode', 'config', 'algorithm', 'protocol', 'ctas', 'policy', 'memory', 'bucket_cap',
                'bucket_first', 'size', 'step_size', 'step_calls')
            AND (section, key) NOT IN (SELECT section, key FROM setting)
        ORDER BY i, nth
    )
    GROUP BY i
),
row AS (
    SELECT contrast.*, coalesce(text, '') AS step, coalesce(size_B, 0) AS size,
        max(chosen) OVER step AS has_bandwidth, min(i) OVER step AS first,
        max(level <> 'synthetic') OVER () AS real, coalesce(ratio_high, ratio) AS high,
        coalesce(ratio_low, ratio) AS low
    FROM contrast LEFT JOIN of_step USING (i, section)
    WINDOW step AS (PARTITION BY section, coalesce(size_B, 0), coalesce(text, ''))
),
used AS (
    SELECT *
    FROM row
    WHERE ratio IS NOT NULL AND (chosen OR NOT has_bandwidth)
),
-- A lower ratio is a larger loss of the baseline. A verdict comes first; the same operation says
-- nothing.
ranked AS (
    SELECT *,
        row_number() OVER (PARTITION BY first
            ORDER BY run_id DESC,
                CASE verdict
                    WHEN 'faster' THEN high - 1e6
                    WHEN 'same operation' THEN 1e6
                    ELSE ratio
                END, i) AS rank
    FROM used
),
step AS (
    SELECT row.*, ranked.i AS best, ranked.verdict AS judged, ranked.ratio AS r, ranked.low AS lo,
        ranked.high AS hi, ranked.baseline AS of, ranked.config AS other, l, kind.words
    FROM row JOIN kind USING (level) LEFT JOIN ranked ON rank = 1 AND ranked.first = row.i
    WHERE row.i = row.first AND NOT (row.real AND row.level = 'synthetic' AND NOT row.has_bandwidth)
),
-- In words, as in the advice: the label, the size, and the parameters in which the steps of a
-- section differ, or all with a number of GEMMs or buckets. Sizes are exact where that is short,
-- "24 KiB", else with three digits.
parameter AS (
    SELECT row.section, row.first, nth, key, word
    FROM row JOIN word USING (i)
    WHERE row.i = row.first
        AND (row.section, key) NOT IN (SELECT section, key FROM setting)
        AND instr(' ' || step || ' ', ' ' || word || ' ')
),
several AS (
    SELECT section, key FROM parameter GROUP BY 1, 2 HAVING count(DISTINCT word) > 1
),
issue AS (
    SELECT section, word GLOB '*=after' AS after, max(first)
    FROM parameter
    WHERE key = 'issue'
    GROUP BY section
),
sized AS (
    SELECT *,
        CASE
            WHEN size % 1073741824 = 0 THEN (size / 1073741824) || ' GiB'
            WHEN size % 1048576 = 0 THEN (size / 1048576) || ' MiB'
            WHEN size % 1024 = 0 THEN (size / 1024) || ' KiB'
            ELSE size || ' B'
        END AS exact,
        CASE
            WHEN size >= 999.5 * 1048576 THEN printf('%.3g GiB', size / 1073741824.)
            WHEN size >= 999.5 * 1024 THEN printf('%.3g MiB', size / 1048576.)
            ELSE printf('%.3g KiB', size / 1024.)
        END AS short
    FROM step
),
named AS (
    SELECT *,
        CASE
            WHEN size = 0
                THEN CASE
                    WHEN label <> '' THEN ''
                    WHEN level = 'training' THEN 'job'
                    ELSE 'step'
                END
            WHEN level = 'synthetic' THEN replace(bytes, ' ', '')
            ELSE bytes
        END AS what
    FROM (
        SELECT *, CASE WHEN length(exact) <= length('1023 MiB') THEN exact ELSE short END AS bytes
        FROM sized
    )
),
worded AS (
    SELECT *,
        label
            || CASE
                WHEN proof
                    THEN printf(' %s-%s-%s %s:%s', substr(run_id, 1, 4), substr(run_id, 5, 2),
                        substr(run_id, 7, 2), substr(run_id, 10, 2), substr(run_id, 12, 2))
                ELSE ''
            END
            || CASE WHEN label <> '' AND what <> '' THEN ' ' ELSE '' END
            || what
            || coalesce(
                (
                    SELECT group_concat(' ' || word, '')
                    FROM (
                        SELECT word
                        FROM parameter p
                        WHERE p.first = named.first
                            AND word <> 'launch=graph'
                            AND CASE
                                    WHEN key = 'gemms' THEN level <> 'step'
                                    ELSE key IN ('collective', 'launch')
                                    OR (section, key) IN (SELECT section, key FROM several)
                                END
                        ORDER BY nth
                    )
                ),
                '')
            || CASE
                WHEN ' ' || step || ' ' GLOB '* launch=graph *' THEN ', CUDA graph'
                ELSE ''
            END AS name
    FROM named
),
drawn AS (
    SELECT *, row_number() OVER steps AS nth,
        coalesce(sum(NOT has_bandwidth) OVER (steps ROWS UNBOUNDED PRECEDING), 0) AS baselines
    FROM worded
    WHERE judged <> 'same operation'
    WINDOW steps AS (ORDER BY l, NOT has_bandwidth, workload || char(31) || label, size, first)
),
headed AS (
    SELECT *,
        drawn.words
            || CASE
                WHEN has_bandwidth
                    THEN CASE
                        WHEN after IS NULL OR level = 'step' THEN ''
                        WHEN after THEN ', buckets issued one by one'
                        ELSE ', one bucket beside GEMMs'
                    END
                        || CASE WHEN baselines THEN ': highest bandwidth → best other' ELSE '' END
                WHEN (SELECT max(has_bandwidth) FROM row) THEN ': baseline → best other'
                ELSE ''
            END AS heading
    FROM drawn LEFT JOIN issue USING (section)
),
grouped AS (
    SELECT *, sum(heading IS NOT before) OVER (ORDER BY nth) AS g
    FROM (SELECT *, lag(heading) OVER (ORDER BY nth) AS before FROM headed)
),
placed AS (
    SELECT nth, nth + 1.3 * g - 0.4 AS y, g, heading, heading IS NOT before AS first, name,
        replace(
            replace(
                replace(CASE WHEN proof THEN other ELSE of || ' → ' || other END, 'NCCL_', ''),
                'OMPI_MCA_coll_tuned_use_dynamic_rules=1/', ''),
            'OMPI_MCA_coll_tuned_', '') AS pair,
        iif(losses, 1 / r, r) AS ratio, iif(losses, 1 / hi, lo) AS low,
        iif(losses, 1 / lo, hi) AS high, judged <> 'inconclusive' AS shown
    FROM grouped, (SELECT max(has_bandwidth) AS losses FROM grouped)
    UNION ALL
    SELECT 1, 1, 1, 'no step was compared yet', 1, '', '', 1, 1, 1, 2
    WHERE NOT EXISTS (SELECT * FROM grouped)
),
heading AS (
    SELECT *, CASE WHEN y > 1 THEN y - 1 ELSE 0.9 END AS at FROM placed WHERE first
),
total AS (SELECT count(*) AS n, max(y) AS last, max(g) AS groups FROM placed),
left_out AS (
    SELECT count(*) FILTER(WHERE best IS NULL) AS without,
        count(*) FILTER(WHERE judged = 'same operation') AS same,
        (SELECT count(DISTINCT run_id) FROM measured WHERE race) AS races
    FROM step
),
text(part, y, a, b, c, d, e) AS (
    SELECT 0, 0, '@ answer ' || :of || '/answer', NULL, NULL, NULL, NULL
    FROM compare
    WHERE platform = :of AND level IN (SELECT level FROM kind)
    GROUP BY platform
    UNION ALL
    SELECT 1, 0, 'platform = ' || quote(:of) || '; workload = ''''; detail = ''''', NULL, NULL,
        NULL, NULL
    UNION ALL
    SELECT 1, 1,
        'of_baseline = ' || baselines || '; of_bandwidth = ' || (n - baselines) || '; of_proof = '
            || proofs,
        NULL, NULL, NULL, NULL
    FROM total,
        (
            SELECT count(*) FILTER(WHERE NOT has_bandwidth) AS baselines,
                count(*) FILTER(WHERE proof) AS proofs
            FROM drawn
        )
    UNION ALL
    SELECT 1, 2,
        'not_shown = '
            || quote(
                CASE WHEN without + same THEN 'not shown: ' ELSE '' END
                    || CASE without
                        WHEN 0 THEN ''
                        WHEN 1 THEN '1 step without an interval'
                        ELSE without || ' steps without an interval'
                    END
                    || CASE WHEN without AND same THEN ', ' ELSE '' END
                    || CASE same WHEN 0 THEN '' ELSE same || ' of the same operation' END
                    || CASE WHEN without + same AND races THEN '; ' ELSE '' END
                    || CASE WHEN races THEN 'races of tune: gradsync show RUN --svg FILE' ELSE '' END),
        NULL, NULL, NULL, NULL
    FROM left_out
    UNION ALL
    SELECT 1, 3, printf('rows = %d; groups = %d; last = %g', n, groups, last), NULL, NULL, NULL,
        NULL
    FROM total
    UNION ALL
    SELECT 1, 4,
        'array label[' || n || '] = [' || group_concat(quote(name), ', ') || ']; array pair[' || n
            || '] = [' || group_concat(quote(pair), ', ') || ']; array place[' || n || '] = ['
            || group_concat(y, ', ') || ']',
        NULL, NULL, NULL, NULL
    FROM (SELECT * FROM placed ORDER BY nth), total
    UNION ALL
    SELECT 1, 5,
        'array heading[' || groups || '] = [' || group_concat(quote(heading), ', ')
            || ']; array heading_at[' || groups || '] = [' || group_concat(at, ', ') || ']',
        NULL, NULL, NULL, NULL
    FROM (SELECT * FROM heading ORDER BY nth), total
    UNION ALL
    SELECT 2, 0, '$lost << EOD', NULL, NULL, NULL, NULL
    UNION ALL
    SELECT 3, y, y, ratio, low, high, shown FROM placed
    UNION ALL
    SELECT 4, 0, 'EOD', NULL, NULL, NULL, NULL
)
SELECT a, b, c, d, e FROM text ORDER BY part, y
