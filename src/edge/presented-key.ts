import type { ServerExchange } from '../inbound/exchange.ts'

const BEARER = /^bearer +(\S+) *$/i

/** The token of an `Authorization: Bearer` header. Undefined without the header, or if other text follows the token. */
export const bearerOf = (exchange: ServerExchange): string | undefined =>
  BEARER.exec(exchange.header('authorization') ?? '')?.[1]

/**
 * Reads the API key of a client from the places that clients of the dialects use. Every route reads keys through this
 * function, so that no route has rules of its own.
 */
export function presentedKey(exchange: ServerExchange): string | undefined {
  const { query } = exchange.head
  return (
    bearerOf(exchange) ??
    exchange.header('x-api-key') ??
    exchange.header('x-goog-api-key') ??
    (query === '' ? undefined : (new URLSearchParams(query).get('key') ?? undefined))
  )
}
