/** Sale prices on the command line. */
import { NONE } from './limits.ts'
import { price, priceProblem, type ValueRule } from './values.ts'

/** A price as operations take it. */
export type PriceOption = Readonly<Record<string, unknown>>
type Units = Readonly<Record<string, string>>

/** The kinds of tokens that have a price per million, by the end of the option's name. */
const tokenUnits = {
  input: 'input',
  output: 'output',
  'cached-input': 'cached_input',
  'cache-write': 'cache_write',
  'cache-write-1h': 'cache_write_1h',
  reasoning: 'reasoning',
  'image-input': 'image_input',
  'image-output': 'image_output',
} as const
type TokenOption = keyof typeof tokenUnits
const names = Object.keys(tokenUnits) as TokenOption[]
const isTokenOption = (name: string): name is TokenOption => name in tokenUnits

/** `272000:input=5,output=22.50` */
function readTier(text: string): readonly [tokens: string, Units] | string {
  const match = /^([1-9]\d{0,8}):(.+)$/.exec(text)
  const [, tokens, list] = match ?? []
  if (tokens === undefined || list === undefined)
    return 'must be TOKENS:input=USD,output=USD, such as 272000:input=5,output=22.50'
  const units = new Map<string, string>()
  for (const part of list.split(',').map((each) => each.trim())) {
    const [name = '', amount = '', ...rest] = part.split('=')
    if (!isTokenOption(name)) return `has no '${name}'; it has ${names.join(', ')}`
    const problem = rest.length > 0 ? 'must be named once' : priceProblem(amount)
    if (problem !== undefined) return `${name} ${problem}`
    if (units.has(tokenUnits[name])) return `has ${name} twice`
    units.set(tokenUnits[name], amount)
  }
  return [tokens, Object.fromEntries(units)]
}

/** `second/720p=0.15` */
function readPiece(text: string): readonly [name: string, amount: string] | string {
  const at = text.lastIndexOf('=')
  const name = text.slice(0, Math.max(at, 0))
  if (!/^[a-z]+(?:\/[\w.-]+)*$/.test(name)) return 'must be NAME=USD, such as image/1024x1024=0.04'
  const problem = priceProblem(text.slice(at + 1))
  return problem === undefined ? [name, text.slice(at + 1)] : `${name} ${problem}`
}

const rule = (placeholder: string, read: (text: string) => unknown): ValueRule => ({
  placeholder,
  problem: (given) => {
    const found = given === NONE ? undefined : read(given)
    return typeof found === 'string' ? found : undefined
  },
})

export const priceOptions = {
  'price-input': { summary: 'sale price of a million input tokens', value: price },
  'price-output': { summary: 'sale price of a million output tokens', value: price },
  'price-cached-input': {
    summary: 'price of a million cached input tokens (default: the input price)',
    value: price,
  },
  'price-each': {
    summary: 'price of one piece: NAME=USD, such as second/720p=0.15',
    value: rule('NAME=USD', readPiece),
    takes: 'many',
  },
  'price-above': {
    summary: 'price of longer requests: TOKENS:input=…,output=…; none removes all tiers',
    value: rule('TIER', readTier),
    takes: 'many',
  },
} as const

type PriceOptionValues = {
  readonly [Name in `price-${'input' | 'output' | 'cached-input'}`]?: string | undefined
} & { readonly 'price-each': readonly string[]; readonly 'price-above': readonly string[] }

const entries = <V>(texts: readonly string[], read: (text: string) => readonly [string, V] | string) =>
  texts.map(read).flatMap((found) => (typeof found === 'string' ? [] : [found]))

/** The prices that the options state. Undefined if they state none. */
export function pricesGiven(given: PriceOptionValues): PriceOption | undefined {
  const { 'price-each': each, 'price-above': above } = given
  const stated = {
    ...(given['price-input'] && { input: given['price-input'] }),
    ...(given['price-output'] && { output: given['price-output'] }),
    ...(given['price-cached-input'] && { cached_input: given['price-cached-input'] }),
    ...(each.length > 0 && { each: each.includes(NONE) ? null : Object.fromEntries(entries(each, readPiece)) }),
    ...(above.length > 0 && { above: above.includes(NONE) ? null : Object.fromEntries(entries(above, readTier)) }),
  }
  return Object.keys(stated).length === 0 ? undefined : stated
}

const COST = /^cost-(?:above-([1-9]\d{0,8})-)?([a-z0-9-]+)$/
const EACH = /^cost-each-([a-z]+(?:\/[\w.-]+)*)$/

/** The path in a cost to which a key of an offer belongs: `cost-above-272000-input`, `cost-each-second/720p`. */
export function costKey(key: string): readonly string[] | undefined {
  const piece = EACH.exec(key)?.[1]
  if (piece !== undefined) return ['each', piece]
  const [, above, name = ''] = COST.exec(key) ?? []
  if (!isTokenOption(name)) return undefined
  return above === undefined ? [tokenUnits[name]] : ['above', above, tokenUnits[name]]
}

/** The cost that the keys of an offer state. Undefined if they state none. */
export function costGiven(parts: ReadonlyMap<string, string>): PriceOption | undefined {
  const cost: Record<string, unknown> = {}
  for (const [key, amount] of parts) {
    const path = costKey(key)
    const last = path?.at(-1)
    if (!path || last === undefined) continue
    let within = cost
    for (const name of path.slice(0, -1)) within = (within[name] ??= {}) as Record<string, unknown>
    within[last] = amount
  }
  return Object.keys(cost).length === 0 ? undefined : cost
}
