-- SPDX-License-Identifier: Apache-2.0
--
-- The cells of the table `wan`, for the queries that .read this. Of a cell that was recorded again, also by
-- another version of wan_sync, the last recording counts; `place` is that of the first.
CREATE TEMP TABLE cell AS
WITH nth AS (
    SELECT *,
        row_number() OVER (
            PARTITION BY platform, label, config, size_B, transport, every, overlap, fragments,
                run_id
            ORDER BY at) AS nth
    FROM (
        SELECT w.*, row_number() OVER (ORDER BY sort, w.rowid) AS at
        FROM wan w JOIN stamp USING (run)
    )
),
placed AS (
    SELECT *, min(at) OVER cells AS place, max(at) OVER cells AS latest
    FROM nth
    WINDOW cells AS (
            PARTITION BY platform, label, config, size_B, transport, every, overlap, fragments, nth)
)
SELECT *,
    CASE strategy WHEN 'mpi' THEN 'MPI_Allreduce' ELSE replace(strategy, '_', ' ') END AS words,
    coalesce(sync_ci_low_s, sync_s) AS low, coalesce(sync_ci_high_s, sync_s) AS high,
    config GLOB '*=*' AND config NOT GLOB 'strategy=mpi*' AS special,
    ranks || ' at ' || sites AS shape
FROM placed
WHERE at = latest;
