import type { ServerExchange } from '../inbound/exchange.ts'

const BEARER = /^bearer +(\S+) *$/i

/** The token of an `Authorization: Bearer` header; undefined without one, and where anything stands behind it. */
export const bearerOf = (exchange: ServerExchange): string | undefined =>
  BEARER.exec(exchange.header('authorization') ?? '')?.[1]

/**
 * The API key a client presents, in any of the places where clients of the dialects put one. There is no other way in:
 * every route asks here, so that none has rules of its own.
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
