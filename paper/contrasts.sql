-- SPDX-License-Identifier: Apache-2.0
--
-- The verdicts by which the paper counts: of a contrast that several runs measured, that of the run
-- that stands; with the parameters by which numbers.sql chooses them, and their order in compare.csv.
SELECT *
FROM (
        SELECT c.*, param(params, 'size') AS size, param(params, 'gemms') AS gemms,
            param(params, 'batch') AS batch, param(params, 'launch') AS launch,
            row_number() OVER (ORDER BY sort, c.rowid) + 1 AS line,
            rank() OVER (
                PARTITION BY c.platform, c.workload, c.label, config, mode, params, size_B
                ORDER BY complete DESC, c.run_id DESC) AS place
        FROM compare c JOIN stamp USING (run) JOIN run USING (run)
    )
WHERE place = 1
