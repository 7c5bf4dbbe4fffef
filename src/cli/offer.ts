import { costGiven, costKey, type PriceOption } from './price-options.ts'
import { didYouMean } from './suggest.ts'
import { priceProblem } from './values.ts'

/** An offer as `model.add` takes it. */
export type OfferOption = {
  readonly provider: string
  readonly model: string
  readonly cost?: PriceOption
  readonly priority?: number
  readonly weight?: number
  readonly context_tokens?: number
}

const name = { problem: (): undefined => undefined }
const dollars = { problem: priceProblem }
/** A whole number of an offer: its field and its smallest value. */
const whole = (field: 'priority' | 'weight' | 'context_tokens', min: number) => ({
  field,
  problem: (given: string) => {
    if (!/^\d{1,15}$/.test(given)) return 'must be a whole number'
    return Number(given) < min ? `must be at least ${min}` : undefined
  },
})

/** The rules for the fields of an offer, by their keys on the command line. */
const keys = {
  provider: name,
  model: name,
  'cost-input': dollars,
  'cost-output': dollars,
  'cost-cached-input': dollars,
  priority: whole('priority', 0),
  weight: whole('weight', 1),
  context_tokens: whole('context_tokens', 1),
} as const
type Key = keyof typeof keys
const KEYS = Object.keys(keys) as Key[]

/**
 * Reads `openai/gpt-x`, `openai/gpt-x,priority=1`, or `provider=openai,model=gpt-x,cost-input=0.1,…`.
 * Returns the reason if the text is none of these.
 */
export function readOffer(text: string): OfferOption | string {
  const [first = '', ...others] = text.split(',').map((part) => part.trim())
  const parts = new Map<string, string>()
  if (!/^[\w-]+=/.test(first)) {
    const at = first.indexOf('/')
    if (at < 1 || at === first.length - 1) return 'must be PROVIDER/MODEL, or provider=…,model=…,cost-input=…'
    parts.set('provider', first.slice(0, at)).set('model', first.slice(at + 1))
  } else others.unshift(first)
  for (const part of others) {
    const problem = readPart(part, parts)
    if (problem !== undefined) return problem
  }
  return offerOf(parts)
}

/** Adds `KEY=VALUE` to the parts. Returns the reason if it cannot be added. */
function readPart(part: string, parts: Map<string, string>): string | undefined {
  const at = part.indexOf('=')
  const named = part.slice(0, at === -1 ? undefined : at).trim()
  // The other names of the command line have dashes, so `context-tokens` is accepted too.
  const known = KEYS.find((each) => each === named || each === named.replace('-', '_'))
  const key = known ?? (costKey(named) && named)
  if (key === undefined) return `has no '${named}'${didYouMean(named, KEYS) || `; it has ${KEYS.join(', ')}`}`
  const value = part.slice(at + 1).trim()
  if (at === -1 || value === '') return `needs a value for ${key}`
  if (parts.has(key)) return `has ${key} twice`
  const problem = (known ? keys[known] : dollars).problem(value)
  if (problem !== undefined) return `${key} ${problem}`
  parts.set(key, value)
  return undefined
}

function offerOf(parts: ReadonlyMap<string, string>): OfferOption | string {
  const provider = parts.get('provider')
  const model = parts.get('model')
  if (!provider || !model) return 'needs provider= and model='
  const numbers = KEYS.flatMap((key) => {
    const value = parts.get(key)
    const known = keys[key]
    return value !== undefined && 'field' in known ? [[known.field, Number(value)]] : []
  })
  const cost = costGiven(parts)
  return {
    provider,
    model,
    ...(cost && { cost }),
    ...(Object.fromEntries(numbers) as Pick<OfferOption, 'priority' | 'weight' | 'context_tokens'>),
  }
}
