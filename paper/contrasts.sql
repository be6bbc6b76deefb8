-- SPDX-License-Identifier: Apache-2.0
--
-- The verdicts of the runs that stand, with the parameters by which numbers.sql chooses them, and their
-- order in compare.csv.
SELECT *
FROM (
        SELECT c.*, param(params, 'size') AS size, param(params, 'gemms') AS gemms,
            param(params, 'batch') AS batch, param(params, 'launch') AS launch,
            row_number() OVER (ORDER BY sort, c.rowid) + 1 AS line
        FROM compare c JOIN stamp USING (run)
    )
WHERE run IN (SELECT run FROM standing)
