/** The number of rows that one step of a sweep deletes. Between two steps the writer thread serves requests. */
export const SWEEP_ROWS = 200
