import { didYouMean } from './suggest.ts'
import { priceProblem } from './values.ts'

/** An offer as `model.add` takes it. */
export type OfferInput = {
  readonly provider: string
  readonly model: string
  readonly cost?: { readonly input: string; readonly output: string; readonly cached_input?: string }
  readonly priority?: number
  readonly weight?: number
}

const KEYS = ['provider', 'model', 'cost-input', 'cost-output', 'cost-cached-input', 'priority', 'weight'] as const
type Key = (typeof KEYS)[number]

/** Reads `openai/gpt-x`, or `provider=openai,model=gpt-x,cost-input=0.1,…`. Of a text that is neither, the reason. */
export function readOffer(text: string): OfferInput | string {
  if (!/^[\w-]+=/.test(text)) {
    const [provider = '', ...model] = text.split('/')
    if (provider !== '' && model.join('/') !== '') return { provider, model: model.join('/') }
    return 'must be PROVIDER/MODEL, or provider=…,model=…,cost-input=…'
  }
  const parts = new Map<Key, string>()
  for (const part of text.split(',')) {
    const at = part.indexOf('=')
    const name = part.slice(0, at === -1 ? undefined : at).trim()
    const key = KEYS.find((known) => known === name)
    if (!key) return `has no '${name}'${didYouMean(name, KEYS) || `; it has ${KEYS.join(', ')}`}`
    const value = part.slice(at + 1).trim()
    if (at === -1 || value === '') return `needs a value for ${name}`
    parts.set(key, value)
  }
  return offerOf(parts)
}

function offerOf(parts: ReadonlyMap<Key, string>): OfferInput | string {
  const provider = parts.get('provider')
  const model = parts.get('model')
  if (!provider || !model) return 'needs provider= and model='
  for (const key of ['cost-input', 'cost-output', 'cost-cached-input'] as const) {
    const problem = parts.has(key) ? priceProblem(parts.get(key) ?? '') : undefined
    if (problem) return `${key} ${problem}`
  }
  for (const key of ['priority', 'weight'] as const) {
    if (!/^\d+$/.test(parts.get(key) ?? '1')) return `${key} must be a whole number`
  }
  const [input, output, cached] = [parts.get('cost-input'), parts.get('cost-output'), parts.get('cost-cached-input')]
  if ((input === undefined) !== (output === undefined) || (cached && !input))
    return 'needs cost-input and cost-output together'
  return {
    provider,
    model,
    ...(input && output && { cost: { input, output, ...(cached && { cached_input: cached }) } }),
    ...(parts.has('priority') && { priority: Number(parts.get('priority')) }),
    ...(parts.has('weight') && { weight: Number(parts.get('weight')) }),
  }
}
