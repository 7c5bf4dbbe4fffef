/** Headers and parameters that an operator adds to every request of a provider. */
import type { Provider } from '../domain/catalog.ts'
import type { Headers } from './access-tokens.ts'

type WithOptions = Pick<Provider, 'options'>

/** Headers that are lists: the request's own values and the operator's count together. */
const LISTS = new Set(['anthropic-beta', 'openai-beta'])

/** The headers of a request with those of its provider, which win. */
export function withExtraHeaders(own: Headers, { options }: WithOptions): Headers {
  const extra = options?.headers
  if (!extra) return own
  const all: Record<string, string> = { ...own }
  for (const [name, value] of Object.entries(extra)) {
    const before = LISTS.has(name) ? own[name] : undefined
    all[name] = before === undefined ? value : `${before},${value}`
  }
  return all
}

/** A path with the parameters of its provider. A parameter that the request itself has stays as it is. */
export function withExtraQuery(path: string, { options }: WithOptions): string {
  const extra = options?.query
  if (!extra) return path
  const queryAt = path.indexOf('?')
  const own = new URLSearchParams(queryAt === -1 ? '' : path.slice(queryAt))
  const added = Object.entries(extra).flatMap(([name, value]) =>
    own.has(name) ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  )
  return added.length === 0 ? path : `${path}${queryAt === -1 ? '?' : '&'}${added.join('&')}`
}
