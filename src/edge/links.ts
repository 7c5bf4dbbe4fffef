import type { ServerExchange } from '../inbound/exchange.ts'

export type Links = {
  /** What the operator says the address is. */
  readonly publicUrl: string | undefined
  /** Only this machine reaches the server: its clients' word for where they found it is good enough. */
  readonly isLoopback: boolean
}

/**
 * The address of this gateway as the client of a request can reach it, without a slash at the end. A name that a client
 * says is not handed out on an open server: it would lead others wherever somebody wants.
 */
export function linkBaseOf(exchange: ServerExchange, { publicUrl, isLoopback }: Links): string | undefined {
  if (publicUrl !== undefined) return publicUrl
  // What is no host has been refused with its head.
  const host = exchange.header('host')
  return isLoopback && host ? `http://${host}` : undefined
}
