/**
 * Decides where the gateway may call. A URL is checked when it is saved, and again for every endpoint. The addresses of
 * its host are checked at every connect. The checked addresses are the ones that are connected to, so a name that
 * points elsewhere later changes nothing.
 */
import { bareHost } from './address.ts'
import { CLOUD_METADATA, parseIp, placeOf, type Place } from './ip.ts'
import { limit } from '../lib/primitives/limit.ts'

/**
 * `private`: also this machine and its networks, because the operator allows it. `web`: for URLs that clients name, and
 * their redirects. They must be public and at the ports of web servers, because other services may misread HTTP.
 * `metadata`: only the services that give a machine its keys. Only constants of the gateway have it, never an address
 * that somebody has entered.
 */
export type AddressReach = 'web' | 'public' | 'private' | 'metadata'

export type CheckedUrl =
  | { readonly kind: 'good'; readonly url: URL }
  /** It would be good with the reach `private`. `name` is the kind of address of its host. */
  | { readonly kind: 'private'; readonly name: string }
  | { readonly kind: 'bad'; readonly fault: UrlFault; readonly message: string }

const URL_CHARS_MAX = limit('urlCharsMax', 8_192, 'A longer URL is refused.')
const WEB_PORTS = new Set(['', '80', '443'])
/** Control characters and white space, which some parsers drop and others keep. */
const UNPRINTABLE = /[\p{Cc}\s]/u
/** The faults of a URL. Each sentence follows the name of the URL. */
export const urlFaults = {
  too_long: 'is too long for a URL',
  unprintable: 'has white space or control characters in it',
  backslash: 'has a backslash in it, which some read as a slash',
  not_absolute: 'must be an absolute http or https URL',
  credentials: 'must not hold credentials',
  barred: 'is at an address that is never called',
  port: 'is at a port other than 80 and 443',
  placeholder: 'has a placeholder in braces: put its value there',
  query: 'must have neither a query nor a fragment: paths are appended to it',
} as const
export type UrlFault = keyof typeof urlFaults
const bad = (fault: UrlFault, more = ''): CheckedUrl => ({ kind: 'bad', fault, message: urlFaults[fault] + more })

/** Parses a URL once. The caller must connect by this very object, because two parsers may read two hosts. */
export function checkUrl(text: string, reach: AddressReach): CheckedUrl {
  if (text.length > URL_CHARS_MAX) return bad('too_long')
  if (UNPRINTABLE.test(text)) return bad('unprintable')
  if (text.includes('\\')) return bad('backslash')
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? []
  const url = URL.parse(text)
  if (authority === undefined || !url || url.hostname === '') return bad('not_absolute')
  if (authority.includes('@')) return bad('credentials')
  const place = placeOfHost(url.hostname)
  if (reach === 'metadata') return isMetadata(place) ? { kind: 'good', url } : bad('barred')
  if (place.kind === 'barred') return bad('barred', ` (${place.name})`)
  if (place.kind === 'private' && reach !== 'private') return place
  return reach === 'web' && !WEB_PORTS.has(url.port) ? bad('port') : { kind: 'good', url }
}

/** The fault of a client's URL, for its error message. Undefined if there is none. It uses no resolver. */
export function faultOfClientUrl(text: string, reach: 'web' | 'public'): string | undefined {
  const checked = checkUrl(text, reach)
  if (checked.kind === 'bad') return checked.message
  return checked.kind === 'private' || isLocalName(checked.url.hostname) ? 'is at a private address' : undefined
}

/** Names that are not on the public Internet: those without a dot, and those reserved for local networks. */
const isLocalName = (hostname: string): boolean => /^[^.:]+\.?$|\.(?:local|internal|home\.arpa)\.?$/.test(hostname)

/** Checks a URL that paths are appended to. */
export const checkBaseUrl = (text: string, reach: AddressReach): CheckedUrl =>
  /[?#]/.test(text) ? bad('query') : /[{}]/.test(text) ? bad('placeholder') : checkUrl(text, reach)

/** The place of a host without a resolver. A name counts as public until its addresses are checked at the connect. */
function placeOfHost(hostname: string): Place {
  const address = parseIp(bareHost(hostname))
  if (address !== undefined) return placeOf(address)
  return /(?:^|\.)localhost\.?$/.test(hostname) ? { kind: 'private', name: 'loopback' } : { kind: 'public' }
}

export type VettedAddresses =
  | { readonly kind: 'some'; readonly addresses: readonly string[] }
  /** No address may be connected to. `message` says why and what would help, without an address. */
  | { readonly kind: 'none'; readonly message: string }

/**
 * The addresses that may be connected to. The others are left out, and nothing is sent to them. A name with one such
 * address is more often an error in its zone than an attack, so the rest is used.
 */
export function vet(addresses: readonly string[], reach: AddressReach): VettedAddresses {
  const places = addresses.map(placeOfAddress)
  const isOpen = (place: Place): boolean =>
    reach === 'metadata' ? isMetadata(place) : place.kind === 'public' || place.kind === reach
  const good = addresses.filter((_, i) => isOpen(places[i] as Place))
  if (good.length > 0) return { kind: 'some', addresses: good }
  // If there are several reasons, the message has the one that the operator can change.
  const closed = places.find(({ kind }) => kind === 'private') ?? places[0]
  if (!closed || closed.kind === 'public') return { kind: 'none', message: 'the host has no address' }
  const { kind, name } = closed
  const message = kind === 'private' ? needsAllowance(name) : `the host is at an address that is never called (${name})`
  return { kind: 'none', message }
}

const isMetadata = (place: Place): boolean => place.kind === 'barred' && place.name === CLOUD_METADATA

/** A resolver's answer that is no address is barred, because the connect would resolve it again. */
function placeOfAddress(text: string): Place {
  const address = parseIp(text)
  return address === undefined ? { kind: 'barred', name: 'not an address' } : placeOf(address)
}

/** The message about a private address. It names the option that the operator can set. */
export const needsAllowance = (name: string): string =>
  `the host is at a private address (${name}), which the provider may call only with allow_private`
