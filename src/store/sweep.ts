/** Rows that one step of a sweep deletes: the writer thread is free for requests between two steps. */
export const SWEEP_ROWS = 200
