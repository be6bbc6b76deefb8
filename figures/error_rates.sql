-- SPDX-License-Identifier: Apache-2.0
--
-- How often a difference is found, against its size; at no difference, the rate of false ones. A
-- curve for each method that was simulated at every size.
.import data/csv/error_rates.csv error_rates
WITH method(i, name, reversed, words) AS (
    VALUES (1, 'verdict', 0, 'one comparison'),
        (2, 'verdict: one of fourteen, three blocks', 0, 'one of 14, 3 blocks'),
        (3, 'Mann-Whitney one after the other', 0, 'Mann-Whitney'),
        (4, 'Mann-Whitney one after the other', 1, 'Mann-Whitney, reversed')
),
rate AS (
    SELECT *, rowid AS place, quantity GLOB '*the other way' AS reversed,
        replace(replace(method, ';', ','), 'any of fourteen', 'one of fourteen') AS name,
        CASE
            WHEN quantity GLOB 'nothing there but*' THEN 0
            WHEN quantity GLOB '[0-9]*% there and*' THEN quantity + 0
        END AS size
    FROM error_rates
),
of_verdict AS (
    SELECT * FROM rate WHERE name = 'verdict' AND NOT reversed AND size IS NOT NULL
),
text(part, i, x, a, b, c, d) AS (
    SELECT 0, 0, 0, '@ error_rates method/error_rates', NULL, NULL, NULL
    UNION ALL
    SELECT 1, 0, 0,
        'title_of = ''how often a difference is found''; platform = ''''; workload = ''''', NULL,
        NULL, NULL
    UNION ALL
    SELECT 1, 1, 0,
        printf(
            'detail = ''up to %d simulated campaigns of 5 launches for each point''',
            max(campaigns + 0)),
        NULL, NULL, NULL
    FROM of_verdict
    UNION ALL
    SELECT 1, 2, 0, printf('at_most = %g', 100 * most), NULL, NULL, NULL
    FROM (SELECT most FROM of_verdict WHERE most + 0 < 1 ORDER BY place DESC LIMIT 1)
    UNION ALL
    SELECT 1, 3, 0, printf('at_least = %g; least_size = %g', 100 * least, size), NULL, NULL, NULL
    FROM (SELECT * FROM of_verdict WHERE least + 0 > 0 ORDER BY place DESC LIMIT 1)
    UNION ALL
    SELECT 1, 4, 0,
        'n = ' || count(*) || '; array label[' || count(*) || '] = ['
            || group_concat(quote(words), ', ') || ']',
        NULL, NULL, NULL
    FROM method
    UNION ALL
    SELECT 2, 0, 0, '$power << EOD', NULL, NULL, NULL
    UNION ALL
    SELECT 3, i, size, size, 100 * rate, 100 * rate_low, 100 * rate_high
    FROM rate JOIN method USING (name, reversed)
    WHERE size IS NOT NULL
    UNION ALL
    SELECT 3, i, blank, NULL, NULL, NULL, NULL
    FROM method, (SELECT -2 AS blank UNION ALL SELECT -1)
    WHERE i > 1
    UNION ALL
    SELECT 4, 0, 0, 'EOD', NULL, NULL, NULL
)
SELECT a, b, c, d FROM text ORDER BY part, i, x
