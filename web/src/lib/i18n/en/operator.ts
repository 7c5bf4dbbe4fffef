/** The operator's pages. */
export const operator = {} as const
