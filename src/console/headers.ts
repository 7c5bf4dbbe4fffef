/** What every answer of the console says to browsers, and what it asks of their requests. */
import type { ServerExchange } from '../inbound/exchange.ts'

const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
}

/** Of data: nothing in it is ever a page. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** Of pages: their own files and nobody else's; pictures may be pasted, videos are the gateway's own. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
].join('; ')

type Kind = 'data' | 'page'

/** `isSecure`: the public address is https, and nothing but it may ever be used again. */
export const securityHeaders = (kind: Kind, isSecure: boolean): Record<string, string> => ({
  ...ALWAYS,
  'content-security-policy': kind === 'data' ? dataPolicy : pagePolicy,
  ...(isSecure ? { 'strict-transport-security': 'max-age=31536000' } : {}),
})

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Whether a request that changes something comes from our own page, or from no page at all. Browsers say so themselves
 * (`Sec-Fetch-Site`); old ones send an `Origin`, which must be our address. A program sends neither, and no cookie that
 * somebody else gave it.
 */
export function isOwnRequest(exchange: ServerExchange, publicUrl: string | undefined): boolean {
  if (SAFE.has(exchange.head.method)) return true
  const site = exchange.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = exchange.header('origin')
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  // Where the address is known so is its scheme: a page that came without TLS may be anybody's.
  if (publicUrl !== undefined) return new URL(origin).origin === new URL(publicUrl).origin
  return new URL(origin).host === exchange.header('host')
}
