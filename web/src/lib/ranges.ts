/** Time ranges of charts and lists. They move with the clock: a link with `7d` means the last seven days. */
export const ranges = ['24h', '7d', '30d', '90d'] as const
export type Range = (typeof ranges)[number]
