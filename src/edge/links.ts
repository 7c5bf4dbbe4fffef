import type { ServerExchange } from '../inbound/exchange.ts'

export type Links = {
  /** The address that the operator configured. */
  readonly publicUrl: string | undefined
  /** Whether only this machine can reach the server. Then the `Host` header of a client is trusted. */
  readonly isLoopback: boolean
  readonly scheme: 'http' | 'https'
}

/**
 * The address of this gateway as the client reaches it, without a slash at the end. A server that others can reach does
 * not repeat the `Host` header of a client, because a false one would lead other people to a foreign address.
 */
export function linkBaseOf(exchange: ServerExchange, { publicUrl, isLoopback, scheme }: Links): string | undefined {
  if (publicUrl !== undefined) return publicUrl
  // A `Host` header that is not a host was refused with the request head.
  const host = exchange.header('host')
  return isLoopback && host ? `${scheme}://${host}` : undefined
}
