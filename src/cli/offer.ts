import { didYouMean } from './suggest.ts'
import { priceProblem } from './values.ts'

/** An offer as `model.add` takes it. */
export type OfferInput = {
  readonly provider: string
  readonly model: string
  readonly cost?: { readonly input: string; readonly output: string; readonly cached_input?: string }
  readonly priority?: number
  readonly weight?: number
  readonly context_tokens?: number
}

const name = { problem: (): undefined => undefined }
const dollars = { problem: priceProblem }
/** A number of `OfferInput`: the field and the smallest value. */
const whole = (field: 'priority' | 'weight' | 'context_tokens', min: number) => ({
  field,
  problem: (given: string) => {
    if (!/^\d{1,15}$/.test(given)) return 'must be a whole number'
    return Number(given) < min ? `must be at least ${min}` : undefined
  },
})

/** What an offer can say, by its key on the command line. */
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
 * Of a text that is none of these, the reason.
 */
export function readOffer(text: string): OfferInput | string {
  const [first = '', ...others] = text.split(',').map((part) => part.trim())
  const parts = new Map<Key, string>()
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

/** Adds `KEY=VALUE` to the parts. Of one that cannot be added, the reason. */
function readPart(part: string, parts: Map<Key, string>): string | undefined {
  const at = part.indexOf('=')
  const named = part.slice(0, at === -1 ? undefined : at).trim()
  // Other words of the command line are joined by dashes.
  const key = KEYS.find((known) => known === named || known === named.replace('-', '_'))
  if (!key) return `has no '${named}'${didYouMean(named, KEYS) || `; it has ${KEYS.join(', ')}`}`
  const value = part.slice(at + 1).trim()
  if (at === -1 || value === '') return `needs a value for ${key}`
  if (parts.has(key)) return `has ${key} twice`
  const problem = keys[key].problem(value)
  if (problem !== undefined) return `${key} ${problem}`
  parts.set(key, value)
  return undefined
}

function offerOf(parts: ReadonlyMap<Key, string>): OfferInput | string {
  const provider = parts.get('provider')
  const model = parts.get('model')
  if (!provider || !model) return 'needs provider= and model='
  const [input, output, cached] = [parts.get('cost-input'), parts.get('cost-output'), parts.get('cost-cached-input')]
  if ((input === undefined) !== (output === undefined) || (cached && !input))
    return 'needs cost-input and cost-output together'
  const numbers = [...parts].flatMap(([key, value]) => ('field' in keys[key] ? [[keys[key].field, Number(value)]] : []))
  return {
    provider,
    model,
    ...(input && output && { cost: { input, output, ...(cached && { cached_input: cached }) } }),
    ...(Object.fromEntries(numbers) as Pick<OfferInput, 'priority' | 'weight' | 'context_tokens'>),
  }
}
