/**
 * Where the gateway may call. A URL is checked when it is saved and again for every endpoint; the addresses of its host
 * are checked at every connect, on the very values that are connected to, so that a name which points elsewhere by then
 * changes nothing.
 */
import { bareHost } from './address.ts'
import { parseIp, placeOf, type Place } from './ip.ts'

/**
 * `private`: this machine and its networks too, because the operator allows it. `web`: what clients name, and what that
 * redirects to: public, and at the ports of web servers, because elsewhere sits what takes HTTP for something else.
 */
export type AddressReach = 'web' | 'public' | 'private'

export type CheckedUrl =
  | { readonly kind: 'good'; readonly url: URL }
  /** It would be good with the reach `private`. `name` says which kind of address its host is. */
  | { readonly kind: 'private'; readonly name: string }
  | { readonly kind: 'bad'; readonly fault: UrlFault; readonly message: string }

const URL_CHARS_MAX = 8_192
const WEB_PORTS = new Set(['', '80', '443'])
/** Control characters and white space, which parsers drop or keep as they like. */
const UNPRINTABLE = /[\p{Cc}\s]/u
/** What can be wrong with a URL, behind its name. */
export const urlFaults = {
  too_long: 'is too long for a URL',
  unprintable: 'has white space or control characters in it',
  backslash: 'has a backslash in it, which some read as a slash',
  not_absolute: 'must be an absolute http or https URL',
  credentials: 'must not hold credentials',
  barred: 'is at an address that is never called',
  port: 'is at a port other than 80 and 443',
  query: 'must have neither a query nor a fragment: paths are appended to it',
} as const
export type UrlFault = keyof typeof urlFaults
const bad = (fault: UrlFault, more = ''): CheckedUrl => ({ kind: 'bad', fault, message: urlFaults[fault] + more })

/** Parses a URL, once: what is connected to must be this very object, because two parsers may read two hosts. */
export function checkUrl(text: string, reach: AddressReach): CheckedUrl {
  if (text.length > URL_CHARS_MAX) return bad('too_long')
  if (UNPRINTABLE.test(text)) return bad('unprintable')
  if (text.includes('\\')) return bad('backslash')
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? []
  const url = URL.parse(text)
  if (authority === undefined || !url || url.hostname === '') return bad('not_absolute')
  if (authority.includes('@')) return bad('credentials')
  const place = placeOfHost(url.hostname)
  if (place.kind === 'barred') return bad('barred', ` (${place.name})`)
  if (place.kind === 'private' && reach !== 'private') return place
  return reach === 'web' && !WEB_PORTS.has(url.port) ? bad('port') : { kind: 'good', url }
}

/** What a client is told of an address it gave; undefined where nothing is wrong. Asks no resolver. */
export function faultOfClientUrl(text: string, reach: 'web' | 'public'): string | undefined {
  const checked = checkUrl(text, reach)
  if (checked.kind === 'bad') return checked.message
  return checked.kind === 'private' || isLocalName(checked.url.hostname) ? 'is at a private address' : undefined
}

/** Names of which the Internet knows nothing: those without a dot, and those set aside for networks of one's own. */
const isLocalName = (hostname: string): boolean => /^[^.:]+\.?$|\.(?:local|internal|home\.arpa)\.?$/.test(hostname)

/** Checks a URL that paths are appended to. */
export const checkBaseUrl = (text: string, reach: AddressReach): CheckedUrl =>
  /[?#]/.test(text) ? bad('query') : checkUrl(text, reach)

/** What can be told without asking a resolver. A name is public until it is connected to. */
function placeOfHost(hostname: string): Place {
  const address = parseIp(bareHost(hostname))
  if (address !== undefined) return placeOf(address)
  return /(?:^|\.)localhost\.?$/.test(hostname) ? { kind: 'private', name: 'loopback' } : { kind: 'public' }
}

export type VettedAddresses =
  | { readonly kind: 'some'; readonly addresses: readonly string[] }
  /** None may be connected to; `message` says why and what would help, without an address. */
  | { readonly kind: 'none'; readonly message: string }

/**
 * The addresses that may be connected to. The others are left out and the rest is used: nothing goes to them either
 * way, and a name with one stray answer is more often a slip of its zone than an attack.
 */
export function vet(addresses: readonly string[], reach: AddressReach): VettedAddresses {
  const places = addresses.map(placeOfAddress)
  const isOpen = ({ kind }: Place): boolean => kind === 'public' || kind === reach
  const good = addresses.filter((_, i) => isOpen(places[i] as Place))
  if (good.length > 0) return { kind: 'some', addresses: good }
  // Of several reasons the one that the operator can do something about.
  const closed = places.find(({ kind }) => kind === 'private') ?? places[0]
  if (!closed || closed.kind === 'public') return { kind: 'none', message: 'the host has no address' }
  const { kind, name } = closed
  const message = kind === 'private' ? needsAllowance(name) : `the host is at an address that is never called (${name})`
  return { kind: 'none', message }
}

/** A resolver's answer that is no address is none to connect to: it would be looked up once more. */
function placeOfAddress(text: string): Place {
  const address = parseIp(text)
  return address === undefined ? { kind: 'barred', name: 'not an address' } : placeOf(address)
}

/** For the operator, who has one word to say about it. */
export const needsAllowance = (name: string): string =>
  `the host is at a private address (${name}), which the provider may call only with allow_private`
