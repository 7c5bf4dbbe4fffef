/** Ranges of time that charts and lists are asked for. They are moved by the clock: a link to `7d` means the last seven days. */
export const ranges = ['24h', '7d', '30d', '90d'] as const
export type Range = (typeof ranges)[number]

const HOUR_MS = 3_600_000
const hours: Readonly<Record<Range, number>> = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24, '90d': 90 * 24 }

export const unitOf = (range: Range): 'hour' | 'day' => (range === '24h' ? 'hour' : 'day')

/** From the start of an hour or a UTC day, so that the bars are whole. */
export function boundsOf(range: Range, nowMs: number = Date.now()): { readonly from: string; readonly to: string } {
  const unitMs = unitOf(range) === 'hour' ? HOUR_MS : 24 * HOUR_MS
  const toMs = Math.ceil((nowMs + 1) / unitMs) * unitMs
  return { from: new Date(toMs - hours[range] * HOUR_MS).toISOString(), to: new Date(toMs).toISOString() }
}
