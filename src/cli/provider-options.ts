/** The options of `provider add` that say how a provider is reached, and what it is told. */
import { readFileSync } from 'node:fs'
import { NONE } from './limits.ts'
import { text, type ValueRule } from './values.ts'

const proxyAddress: ValueRule = {
  placeholder: 'URL',
  problem: (given) =>
    given.includes('@')
      ? 'takes no password, because others on this machine could read it: use --proxy-env'
      : undefined,
}

const pair = (placeholder: string): ValueRule => ({
  placeholder,
  problem: (given) => (given === NONE || /^[^=]+=/.test(given) ? undefined : `must be ${placeholder}, or none`),
})

export const reachOptions = {
  proxy: {
    summary: 'http://, socks5:// or socks5h:// proxy; direct: no proxy; none: as the environment says',
    value: proxyAddress,
  },
  'proxy-env': { summary: 'read the proxy, with user:password@, from this environment variable', value: text('NAME') },
  header: {
    summary: 'header of every request, replaces earlier ones; none removes them',
    value: pair('NAME=VALUE'),
    takes: 'many',
  },
  'header-env': {
    summary: 'the same with the value of an environment variable',
    value: pair('NAME=VARIABLE'),
    takes: 'many',
  },
  query: {
    summary: 'URL parameter of every request, replaces earlier ones; none removes them',
    value: pair('NAME=VALUE'),
    takes: 'many',
  },
  organization: { summary: 'the header OpenAI-Organization; none removes it', value: text('ORG') },
  project: { summary: 'the header OpenAI-Project; none removes it', value: text('PROJECT') },
  ca: { summary: 'PEM file of certificate authorities to trust in addition; none removes them', value: text('FILE') },
} as const

type GivenOptions = {
  readonly proxy: string | undefined
  readonly 'proxy-env': string | undefined
  readonly header: readonly string[]
  readonly 'header-env': readonly string[]
  readonly query: readonly string[]
  readonly organization: string | undefined
  readonly project: string | undefined
  readonly ca: string | undefined
}

export type ReadOptions =
  | { readonly kind: 'read'; readonly input: object }
  | { readonly kind: 'wrong'; readonly message: string }

const wrong = (message: string): ReadOptions => ({ kind: 'wrong', message })

/** The fields of the operation. */
export function readReachOptions(given: GivenOptions, env: Readonly<Record<string, string | undefined>>): ReadOptions {
  const { 'proxy-env': proxyVariable, organization, project, ca } = given
  if (given.proxy !== undefined && proxyVariable !== undefined) return wrong('use --proxy or --proxy-env, not both')
  const proxy = proxyVariable === undefined ? given.proxy : env[proxyVariable]
  if (proxyVariable !== undefined && !proxy) return wrong(`the environment has no ${proxyVariable}`)
  const fromEnv = pairsOf(given['header-env']).map(([name, variable]) => [name, variable, env[variable]] as const)
  for (const [, variable, value] of fromEnv) if (!value) return wrong(`the environment has no ${variable}`)
  const headers = [...pairsOf(given.header), ...fromEnv.map(([name, , value]) => [name, value ?? ''] as const)]
  const isStated = given.header.length + given['header-env'].length > 0
  let pem: string | null | undefined
  try {
    pem = ca === undefined ? undefined : ca === NONE ? null : readFileSync(ca, 'utf8')
  } catch (error) {
    return wrong(`--ca: the file cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const input = {
    ...(proxy !== undefined && { proxy: orNull(proxy) }),
    ...(isStated && { headers: headers.length === 0 ? null : Object.fromEntries(headers) }),
    ...(given.query.length > 0 && {
      query: given.query.includes(NONE) ? null : Object.fromEntries(pairsOf(given.query)),
    }),
    ...(organization !== undefined && { organization: orNull(organization) }),
    ...(project !== undefined && { project: orNull(project) }),
    ...(pem !== undefined && { ca: pem }),
  }
  return { kind: 'read', input }
}

const orNull = (value: string): string | null => (value === NONE ? null : value)

/** `NAME=VALUE` as pairs. `none` is no pair. */
const pairsOf = (texts: readonly string[]): (readonly [string, string])[] =>
  texts.flatMap((one) =>
    one === NONE ? [] : [[one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)] as const],
  )
