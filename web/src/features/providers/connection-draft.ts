/** What a connection may have beside its address and key, as an operator types it. */
import type { Provider } from '../../lib/api-types.gen.ts'
import type { ProviderDraft } from './api.ts'

export type ConnectionDraft = {
  readonly proxy: string
  /** `Name: value`, a line each. */
  readonly headers: string
  /** `name=value`, a line each. */
  readonly query: string
  /** Certificates in PEM. */
  readonly ca: string
  /** What is stored and shall be removed. */
  readonly removed: readonly StoredPart[]
}
export type StoredPart = 'headers' | 'query' | 'ca'

export const draftOfConnection = (before: Provider | undefined): ConnectionDraft => ({
  proxy: before?.proxy ?? '',
  headers: '',
  query: '',
  ca: '',
  removed: [],
})

/** The stored values are never shown, so an empty field leaves them as they are. */
export function connectionChanges(draft: ConnectionDraft, before: Provider | undefined): ProviderDraft {
  const { proxy, headers, query, ca, removed } = draft
  const cleared = Object.fromEntries(removed.map((part) => [part, null]))
  return {
    ...(proxy.trim() === (before?.proxy ?? '') ? {} : { proxy: proxy.trim() || null }),
    ...(headers.trim() === '' ? {} : { headers: pairsOf(headers, ':') }),
    ...(query.trim() === '' ? {} : { query: pairsOf(query, '=') }),
    ...(ca.trim() === '' ? {} : { ca: `${ca.trim()}\n` }),
    ...cleared,
  }
}

function pairsOf(text: string, separator: ':' | '='): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(separator)
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}
