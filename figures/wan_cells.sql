-- SPDX-License-Identifier: Apache-2.0
--
-- The cells of the table `wan`, for the queries that .read this: those of the runs that stand, in
-- their order.
CREATE TEMP TABLE cell AS
SELECT w.*, row_number() OVER (ORDER BY sort, w.rowid) AS place,
    CASE strategy WHEN 'mpi' THEN 'MPI_Allreduce' ELSE replace(strategy, '_', ' ') END AS words,
    coalesce(sync_ci_low_s, sync_s) AS low, coalesce(sync_ci_high_s, sync_s) AS high,
    config GLOB '*=*' AND config NOT GLOB 'strategy=mpi*' AS special,
    ranks || ' at ' || sites AS shape
FROM wan w JOIN stamp USING (run) JOIN standing USING (run);
