/** What an operator may state about a connection beside its address and key: the checks, and the changes. */
import { X509Certificate } from 'node:crypto'
import type { ProviderKey, ProviderOptions } from '../domain/catalog.ts'
import { readProxy, shownProxy } from '../outbound/proxy-address.ts'
import { limit } from '../lib/primitives/limit.ts'
import { KIB } from '../lib/primitives/units.ts'

/** The faults of stated options. Each sentence follows the name of the field. */
export const optionFaults = {
  proxy: 'must be http://, socks5:// or socks5h:// with a host, and perhaps user:password@ and a port; or direct',
  header_name: 'has a name that is no header, or that the gateway sets itself',
  header_value: 'has a value that no header can carry',
  query_name: 'has a parameter with an odd name',
  query_value: 'has a value that is too long, or not printable',
  many: 'has too many entries',
  ca: 'must be certificates in PEM',
} as const
export type OptionFault = keyof typeof optionFaults

/** As an operator states them. Left out: it stays. Null: it goes. */
export type StatedOptions = {
  readonly proxy?: string | null | undefined
  readonly headers?: Readonly<Record<string, string>> | null | undefined
  readonly query?: Readonly<Record<string, string>> | null | undefined
  /** Two of OpenAI's headers, by names that are easier to remember. */
  readonly organization?: string | null | undefined
  readonly project?: string | null | undefined
  readonly ca?: string | null | undefined
}

export type OptionsChange =
  | { readonly kind: 'options'; readonly options: ProviderOptions | undefined }
  | { readonly kind: 'bad'; readonly param: keyof StatedOptions; readonly fault: OptionFault }

/** Each is tried in turn when the others are refused. */
export const KEYS_MAX = limit('providerKeysMax', 64, 'A provider with more keys is refused.')
const ENTRIES_MAX = limit('providerExtrasMax', 32, 'A provider with more headers, or more parameters, is refused.')
const NAME_CHARS_MAX = 64
const VALUE_CHARS_MAX = limit('providerExtraCharsMax', 2_048, 'A longer value of a header or parameter is refused.')
const CA_CHARS_MAX = limit('providerCaCharsMax', 256 * KIB, 'A longer list of certificate authorities is refused.')

const HEADER_NAME = /^[a-z\d!#$%&'*+.^_`|~-]+$/
const PRINTABLE = /^[\x20-\x7e]*$/
const QUERY_NAME = /^[\w.~$[\]-]+$/

/**
 * Headers that are not an operator's to set: those of one connection (RFC 9110, section 7.6.1), those that frame or
 * name a message, and those that the gateway sets for all requests.
 */
const OWN_HEADERS = new RegExp(
  `^(?:${[
    'connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|proxy-.*',
    'host|content-length|content-type|content-encoding|expect|range',
    'authorization|accept|accept-encoding|user-agent|traceparent|tracestate',
  ].join('|')})$`,
)

const ORGANIZATION = 'openai-organization'
const PROJECT = 'openai-project'

type Fields = Readonly<Record<string, string>>
type OptionValue<Value> = Value | BadOption | undefined

class BadOption {
  readonly fault: OptionFault

  constructor(fault: OptionFault) {
    this.fault = fault
  }
}

/** The options after a change, or the fault of what is stated. */
export function changedOptions(before: ProviderOptions | undefined, stated: StatedOptions): OptionsChange {
  const bad = (param: keyof StatedOptions, fault: OptionFault): OptionsChange => ({ kind: 'bad', param, fault })
  const proxy = stated.proxy === undefined ? before?.proxy : proxyIn(stated.proxy)
  if (proxy instanceof BadOption) return bad('proxy', proxy.fault)
  const listed = stated.headers === undefined ? before?.headers : headersIn(stated.headers)
  if (listed instanceof BadOption) return bad('headers', listed.fault)
  let headers: OptionValue<Fields> = listed
  for (const [param, name] of [
    ['organization', ORGANIZATION],
    ['project', PROJECT],
  ] as const) {
    const value = stated[param]
    if (value === undefined) continue
    const { [name]: _, ...others } = headers ?? {}
    headers = headersIn(value === null ? others : { ...others, [name]: value })
    if (headers instanceof BadOption) return bad(param, headers.fault)
  }
  const query = stated.query === undefined ? before?.query : queryIn(stated.query)
  if (query instanceof BadOption) return bad('query', query.fault)
  const ca = stated.ca === undefined ? before?.ca : authoritiesIn(stated.ca)
  if (ca instanceof BadOption) return bad('ca', ca.fault)
  const options = { keys: before?.keys, proxy, headers, query, ca }
  return { kind: 'options', options: Object.values(options).some((value) => value !== undefined) ? options : undefined }
}

function proxyIn(text: string | null): OptionValue<NonNullable<ProviderOptions['proxy']>> {
  if (text === null || text === 'direct') return text ?? undefined
  const read = readProxy(text)
  return read.kind === 'proxy' ? read.proxy : new BadOption('proxy')
}

function headersIn(stated: Fields | null): OptionValue<Fields> {
  const entries = Object.entries(stated ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  if (entries.length > ENTRIES_MAX) return new BadOption('many')
  for (const [name, value] of entries) {
    if (name.length > NAME_CHARS_MAX || !HEADER_NAME.test(name) || OWN_HEADERS.test(name))
      return new BadOption('header_name')
    if (value.length > VALUE_CHARS_MAX || !PRINTABLE.test(value)) return new BadOption('header_value')
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function queryIn(stated: Fields | null): OptionValue<Fields> {
  const entries = Object.entries(stated ?? {})
  if (entries.length > ENTRIES_MAX) return new BadOption('many')
  for (const [name, value] of entries) {
    if (name.length > NAME_CHARS_MAX || !QUERY_NAME.test(name)) return new BadOption('query_name')
    if (value.length > VALUE_CHARS_MAX || !PRINTABLE.test(value)) return new BadOption('query_value')
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Only the certificates of a text, in one form. */
function authoritiesIn(text: string | null): OptionValue<string> {
  if (text === null) return undefined
  const blocks = text.length > CA_CHARS_MAX ? [] : (text.match(PEM) ?? [])
  if (blocks.length === 0) return new BadOption('ca')
  try {
    return blocks.map((block) => new X509Certificate(block).toString().trim()).join('\n')
  } catch {
    return new BadOption('ca') // Not a certificate.
  }
}

type SecretWithOptions = { readonly secret: string | undefined; readonly options?: ProviderOptions | undefined }

/** The keys of a provider. Its only key has no limit of its own. */
export const keysOf = ({ secret, options }: SecretWithOptions): readonly ProviderKey[] =>
  options?.keys ?? (secret === undefined ? [] : [{ secret }])

/** The secret and the options of a provider with these keys. */
export function withKeys(options: ProviderOptions | undefined, keys: readonly ProviderKey[]): SecretWithOptions {
  const [first] = keys
  const isPlain = keys.length < 2 && first?.concurrentRequests === undefined
  const { keys: _, ...others } = options ?? {}
  const all = isPlain ? others : { ...others, keys }
  const hasAny = Object.values(all).some((value) => value !== undefined)
  return { secret: first?.secret, options: hasAny ? all : undefined }
}

/** The options as operations show them: names without values, and no password. */
export const optionsView = ({ proxy, headers = {}, query = {}, ca }: ProviderOptions = {}) => ({
  proxy: typeof proxy === 'object' ? shownProxy(proxy) : (proxy ?? null),
  headers: Object.keys(headers),
  query: Object.keys(query),
  has_ca: ca !== undefined,
})
