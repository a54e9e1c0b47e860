"""From tiles to explicit memories: reusable passes that a target description alone steers.

In order: fold_grid, separate_accumulators, bufferize, share_scalars, share_rows, coalesce_buffers,
multi_buffer, plan_memory, prepare_for_overlap, insert_flags, split_cores. The result is the dialects
`buffer` and `task` beside scalar code, one function for each kind of core.
"""
