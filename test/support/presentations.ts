/** The ways in which clients of the dialects present a key. */
export type PresentedKey = (key: string) => {
  readonly headers: Readonly<Record<string, string>>
  readonly query?: readonly [string, string]
}

export const presentations = {
  Bearer: (key) => ({ headers: { authorization: `Bearer ${key}` } }),
  'x-api-key': (key) => ({ headers: { 'x-api-key': key } }),
  'x-goog-api-key': (key) => ({ headers: { 'x-goog-api-key': key } }),
  '?key=': (key) => ({ headers: {}, query: ['key', key] }),
} as const satisfies Readonly<Record<string, PresentedKey>>
