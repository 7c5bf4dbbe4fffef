/** Security headers of every answer of the console, and the check that a change comes from our own page. */
import type { ServerExchange } from '../inbound/exchange.ts'

const ALWAYS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
}

/** The policy of data, which is never a page. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** The policy of pages. They load only their own files. Pictures may be pasted, and videos are the gateway's own. */
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

/** `isSecure`: the public address is https, so browsers must use only https from now on. */
export const securityHeaders = (kind: Kind, isSecure: boolean): Record<string, string> => ({
  ...ALWAYS,
  'content-security-policy': kind === 'data' ? dataPolicy : pagePolicy,
  ...(isSecure ? { 'strict-transport-security': 'max-age=31536000' } : {}),
})

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Whether a request that changes something comes from our own page, or from no page at all. Browsers say so in
 * `Sec-Fetch-Site`. Old browsers send an `Origin`, which must be our address. A program sends neither header, and no
 * cookie that another site could use.
 */
export function isOwnRequest(exchange: ServerExchange, publicUrl: string | undefined): boolean {
  if (SAFE.has(exchange.head.method)) return true
  const site = exchange.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const origin = exchange.header('origin')
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  // If the address is known, the scheme must match too: anyone can forge a page that comes without TLS.
  if (publicUrl !== undefined) return new URL(origin).origin === new URL(publicUrl).origin
  return new URL(origin).host === exchange.header('host')
}
