-- SPDX-License-Identifier: Apache-2.0
--
-- The last part: which panels there are, their titles and colours, and all lines of their files.
-- The table `text` has the lines of each panel of `panel`.

-- label_of: in the title, in place of the label
CREATE TEMP TABLE panel AS
WITH RECURSIVE panel(
    kind, p, size_B, workload, label, label_of, mode, axes, suffix, ranks, nodes, scripts
) AS (
    SELECT 'curves', p, 0, workload, label, label, mode, axes, '', ranks, nodes,
        'latency'
            || CASE
                WHEN p IN (SELECT p FROM point WHERE rank = 1 AND busbw_Bps > 0) THEN ',bandwidth'
                ELSE ''
            END
    FROM point
    WHERE i = p
        AND (mode = 'overlapped' OR NOT EXISTS (SELECT * FROM iterations))
        AND p IN (SELECT p FROM series WHERE sizes >= 3 AND largest > 0)
    UNION ALL
    SELECT 'step', p, size_B, workload, label, label, '',
        CASE
            WHEN (SELECT count(DISTINCT size_B) FROM iterations) > 1 THEN trim(size || ' ' || axes)
            ELSE axes
        END,
        '', ranks, nodes,
        'decomposition,ranks' || CASE WHEN p IN (SELECT p FROM distributed) THEN ',ecdf' ELSE '' END
    FROM member JOIN gain USING (p) LEFT JOIN size_words USING (size_B)
    WHERE s = 1 AND rank <= 2
    UNION ALL
    SELECT 'ctas', p, size_B, workload, label, label, '', trim(size || ' ' || axes), '-by', ranks,
        nodes, 'ctas'
    FROM member JOIN gain USING (p) LEFT JOIN size_words USING (size_B)
    WHERE s = 1 AND rank <= 2 AND p IN (SELECT p FROM of_ctas GROUP BY p HAVING count(*) >= 3)
    UNION ALL
    SELECT 'contention', p, sized.size_B, workload, point.label,
        CASE point.label WHEN 'contention' THEN '' ELSE point.label END, mode,
        trim(others || ' ' || size), '-by', ranks, nodes, 'contention'
    FROM contended
        JOIN point USING (p)
        JOIN (
            SELECT p, s, size_B
            FROM series JOIN point USING (p, config)
            WHERE s = 1
            GROUP BY p, size_B
        ) sized USING (p)
        LEFT JOIN size_words ON size_words.size_B = sized.size_B
    WHERE i = p
        AND level = 'none'
        AND p IN (SELECT max(p) FROM contended WHERE level = 'none' GROUP BY label, others)
        AND (point.label, others) IN (
                SELECT label, others FROM contended GROUP BY 1, 2 HAVING count(*) >= 3
            )
    UNION ALL
    SELECT 'forest', p, 0, v.workload, v.label, v.label, v.mode, axes, '-ratios', ranks, nodes,
        CASE WHEN p IN (SELECT p FROM forest WHERE ratio_low IS NOT NULL) THEN 'forest' ELSE '-' END
    FROM v JOIN (SELECT run_id, ranks, nodes, min(i) FROM cell GROUP BY run_id) USING (run_id)
    WHERE i = p
    UNION ALL
    SELECT 'map', p, 0, v.workload, v.label, v.label, v.mode, axes, '-sizes', ranks, nodes,
        'verdict_map'
    FROM v JOIN (SELECT run_id, ranks, nodes, min(i) FROM cell GROUP BY run_id) USING (run_id)
    WHERE i = p AND p IN (SELECT p FROM v GROUP BY p HAVING count(DISTINCT size_B) > 1)
)
SELECT * FROM panel;

-- The title: the parameters that its neighbours have with other values. The axis names the time
-- that was measured.
CREATE TEMP TABLE title_word AS
SELECT kind, p, size_B, place, is_step, label_of,
    CASE
        WHEN key = 'size' AND unit = 'KiB' AND value + 0 >= 10240
            THEN printf('%.0f MiB', value / 1024.)
                || CASE WHEN is_step THEN ' of gradient' ELSE '' END
        WHEN key = 'size'
            THEN substr(value, 1, length(value) - length(unit)) || ' ' || unit
                || CASE WHEN is_step THEN ' of gradient' ELSE '' END
        WHEN key = 'gemms'
            THEN CASE value WHEN '1' THEN 'beside one GEMM' ELSE 'beside ' || value || ' GEMMs' END
        WHEN key = 'buffers' THEN value || ' buffers'
        WHEN key = 'contention' THEN replace(value, 'none', 'no') || ' contention'
        WHEN key IN ('collective', value) THEN value
        ELSE key || ' ' || value
    END AS word,
    key
FROM (
    SELECT panel.kind, p, size_B, label_of, w.key AS place, axes GLOB '*gemms=*' AS is_step,
        substr(w.value, 1, instr(w.value || '=', '=') - 1) AS key,
        substr(w.value, instr(w.value, '=') + 1) AS value,
        ltrim(substr(w.value, instr(w.value, '=') + 1), '0123456789.') AS unit
    FROM panel, json_each(
        '['
            || replace(
                replace(
                    json_quote(
                        CASE WHEN mode = 'overlapped' AND axes GLOB '*gemms=*' THEN '' ELSE mode END
                            || ' ' || axes),
                    '/', ' '),
                ' ', '","')
            || ']') w
)
WHERE value NOT IN ('T_ss', 'L_iso', '');

CREATE TEMP TABLE title AS
SELECT kind, p, size_B,
    label_of || CASE label_of WHEN '' THEN '' ELSE ': ' END
        || CASE WHEN words GLOB 'beside*' THEN 'gradient ' ELSE '' END || words AS title
FROM (
    SELECT kind, p, size_B, label_of,
        ltrim(group_concat(CASE key WHEN 'gemms' THEN ' ' ELSE ', ' END || word, ''), ', ') AS words
    FROM (SELECT * FROM title_word ORDER BY kind, p, size_B, place)
    GROUP BY kind, p, size_B
);

-- ---- the look of a config: one colour, marker and dash in every figure (style.gp)

-- Black (1, 9 and 17) is the baseline's. Others take the first tone after a number from their
-- letters that the panel has not used, of a new colour while there is one.
CREATE TEMP TABLE named AS
WITH RECURSIVE named(kind, p, size_B, s, config) AS (
    SELECT 'curves', p, 0, s, config FROM series
    UNION ALL
    SELECT 'step', p, size_B, s, config FROM member
    UNION ALL
    SELECT 'contention', p, size_B, s, config FROM contention
)
SELECT * FROM named;

CREATE TEMP TABLE known AS
SELECT value AS config, key + 1 AS tone
FROM json_each(
    '["auto", "ring/LL", "ring/LL128", "ring/Simple", "tree/LL", "tree/LL128", "tree/Simple",
    "ctas=4", "-", "ctas=8", "ctas=16", "ctas=32", "ctas=2", "ctas=1", "Simple", "LL128", "-",
    "LL", "ring", "tree", "nvls", "ctas=64"]')
WHERE value <> '-';

CREATE TEMP TABLE unknown AS
SELECT kind, p, size_B, s,
    (
        SELECT
            total(
                instr('=/0123456789abcdefghijklmnopqrstuvwxyz', lower(substr(config, d + 1, 1)))
                    * (d + 1))
        FROM digit
        WHERE d < length(config)
    ) AS letters,
    row_number() OVER (PARTITION BY kind, p, size_B ORDER BY s) AS nth
FROM named
WHERE config NOT IN (SELECT config FROM known);

-- `used`: the tones of the panel so far, a JSON list whose last one was chosen.
CREATE TEMP TABLE chosen_tone AS
WITH RECURSIVE chosen_tone(kind, p, size_B, nth, used) AS (
    SELECT kind, p, size_B, 0, json_group_array(tone) FILTER (WHERE tone IS NOT NULL)
    FROM named LEFT JOIN known USING (config)
    GROUP BY kind, p, size_B
    UNION ALL
    SELECT c.kind, c.p, c.size_B, u.nth,
        (
            SELECT json_insert(c.used, '$[#]', t)
            FROM (SELECT d, CAST(u.letters + d AS INTEGER) % 24 + 1 AS t FROM digit WHERE d < 24)
            WHERE (t NOT IN (SELECT value FROM json_each(c.used)) OR json_array_length(c.used) >= 24)
                AND (t % 8 <> 1 OR json_array_length(c.used) >= 21)
                AND (
                    t % 8 NOT IN (SELECT 1 UNION SELECT value % 8 FROM json_each(c.used))
                    OR 8 = (
                        SELECT count(*)
                        FROM (SELECT 1 UNION SELECT value % 8 FROM json_each(c.used))))
            ORDER BY d
            LIMIT 1
        )
    FROM chosen_tone c
        JOIN unknown u
            ON u.kind = c.kind AND u.p = c.p AND u.size_B = c.size_B AND u.nth = c.nth + 1
)
SELECT kind, p, size_B, nth, json_extract(used, '$[#-1]') AS tone FROM chosen_tone WHERE nth;

CREATE TEMP TABLE tone AS
SELECT kind, p, size_B, s, tone FROM named JOIN known USING (config)
UNION ALL
SELECT kind, p, size_B, s, tone FROM chosen_tone JOIN unknown USING (kind, p, size_B, nth);

CREATE TEMP TABLE looks AS
SELECT kind, p, size_B, group_concat(quote(config), ', ') AS labels,
    group_concat(tone, ', ') AS tones, count(*) AS n
FROM (SELECT * FROM named JOIN tone USING (kind, p, size_B, s) ORDER BY kind, p, size_B, s)
GROUP BY kind, p, size_B;

-- ---- all lines

-- "@ SCRIPTS NAME" begins a panel, with the names of its gnuplot scripts ("-": none).
CREATE TEMP TABLE text AS
WITH RECURSIVE text(kind, p, size_B, part, i, k, line) AS (
    SELECT kind, p, size_B, 0, 0, 0,
        '@ ' || scripts || ' ' || workload || CASE label WHEN '' THEN '' ELSE '-' || label END
            || CASE coalesce(mode, '') WHEN '' THEN '' ELSE '-' || mode END
            || CASE axes WHEN '' THEN '' ELSE '-' || axes END || suffix
    FROM panel
    UNION ALL
    SELECT panel.kind, p, size_B, 1, 0, 0,
        printf(
            'platform = %s; workload = %s; detail = %s; ranks = %d; nodes = %d', quote(:platform),
            quote(workload), quote(coalesce(title, label_of)), ranks, nodes)
    FROM panel LEFT JOIN title USING (kind, p, size_B)
    UNION ALL
    SELECT kind, p, size_B, 2, 0, 0, 'array label[' || n || '] = [' || labels || ']' FROM looks
    UNION ALL
    SELECT kind, p, size_B, 3, 0, 0, 'array tone[' || n || '] = [' || tones || ']' FROM looks
    UNION ALL
    SELECT 'curves', p, 0, part, i, k, line FROM curve_text
    UNION ALL
    SELECT 'step', p, panel.size_B, part, i, k, line
    FROM step_text JOIN panel USING (p)
    WHERE kind = 'step'
    UNION ALL
    SELECT 'ctas', p, panel.size_B, part, i, k, line
    FROM ctas_text JOIN panel USING (p)
    WHERE kind = 'ctas'
    UNION ALL
    SELECT 'contention', p, size_B, part, i, k, line FROM contention_text
    UNION ALL
    SELECT kind, p, 0, part, i, k, line FROM verdict_text
)
SELECT * FROM text;
