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

/** The parameter of a path with a deployment, which is only a default. */
const VERSION = /(?<=[?&])api-version=[^&]*/

/** A path with the parameters of its provider. A parameter of the request itself stays, unless it is a default. */
export function withExtraQuery(path: string, { options }: WithOptions): string {
  const extra = options?.query
  if (!extra) return path
  const queryAt = path.indexOf('?')
  const own = new URLSearchParams(queryAt === -1 ? '' : path.slice(queryAt))
  const added: string[] = []
  let begun = path
  for (const [name, value] of Object.entries(extra)) {
    const pair = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
    if (!own.has(name)) added.push(pair)
    else if (name === 'api-version') begun = path.replace(VERSION, () => pair)
  }
  return added.length === 0 ? begun : `${begun}${queryAt === -1 ? '?' : '&'}${added.join('&')}`
}
