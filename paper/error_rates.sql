-- SPDX-License-Identifier: Apache-2.0
--
-- How often verdicts and intervals are wrong, in simulated campaigns (tests/sim/error_rates.c);
-- as numbers.sql.
SELECT 'error.campaigns', 'integer', campaigns
FROM error_rates
WHERE quantity GLOB 'nothing there*' AND method = 'verdict';

WITH wanted(name, quantity, method) AS (
    VALUES ('false', 'nothing there*', 'verdict'),
        ('false.family', 'nothing there*', 'verdict: any of five'),
        ('false.few', 'nothing there*', 'verdict: any of fourteen*'),
        ('false.ranks', 'nothing there*', 'Mann-Whitney one after the other'),
        ('power', '2% there and found', 'verdict'),
        ('power.few', '2% there and found', 'verdict: one of fourteen; three*'),
        ('power.sparse', '2% there and found', 'verdict: one of fourteen; six*'),
        ('wrong', '2% there and called the other way', 'verdict'),
        ('wrong.ranks', '2% there and called the other way', 'Mann-Whitney*'),
        ('cover.few', '*covers: three blocks*', 'as used here'),
        ('cover.noisy', '*covers: noisy blocks', 'as used here'),
        ('cover.new', '*covers: other noise', 'communicators created anew'),
        ('cover.lasting', '*covers: other noise', 'lasting communicators'),
        ('cover.correlated', '*covers: other noise', 'correlated launches'),
        ('cover.rare', '*covers: other noise', 'rare slow launches')
)
SELECT 'error.' || name, 'percent', rate, rate_low, rate_high
FROM wanted w JOIN error_rates e ON e.quantity GLOB w.quantity AND e.method GLOB w.method;
