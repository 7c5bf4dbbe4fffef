/** What families of models at Gemini's API take, as data, from Google's documentation and SDK (2026-11). */
import type { Effort, Turn } from '../domain/turn.ts'

type Level = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'

export type Thinking =
  | { readonly kind: 'none' }
  /** In tokens. 0 turns reasoning off. A model whose `least` is above 0 cannot turn it off. */
  | { readonly kind: 'budget'; readonly least: number; readonly most: number }
  /** Cannot be turned off: `none` becomes the lowest level. */
  | { readonly kind: 'level'; readonly lowest: 'minimal' | 'low'; readonly highest: 'high' | 'xhigh' }

export type GeminiFamily = {
  readonly match: RegExp
  readonly thinking: Thinking
  /** Where a system instruction goes. */
  readonly system: 'own_field' | 'first_user_text'
  /** Whether a turn with function calls must carry the signature of its thoughts. */
  readonly signatures: 'required' | 'unknown'
  readonly penalties: 'taken' | 'refused'
}

const NONE: Thinking = { kind: 'none' }
const current = { system: 'own_field', signatures: 'required', penalties: 'taken' } as const
const older = { system: 'own_field', signatures: 'unknown', penalties: 'refused' } as const
const level = (lowest: 'minimal' | 'low', highest: 'high' | 'xhigh' = 'high'): Thinking => ({
  kind: 'level',
  lowest,
  highest,
})

/** The first match counts. */
const families: readonly GeminiFamily[] = [
  { match: /gemma/, thinking: NONE, system: 'first_user_text', signatures: 'unknown', penalties: 'refused' },
  { match: /gemini-(?:1|2\.0)/, ...older, thinking: NONE, penalties: 'taken' },
  { match: /gemini-2\.5-pro/, ...older, thinking: { kind: 'budget', least: 128, most: 32_768 } },
  { match: /gemini-2\.5/, ...older, thinking: { kind: 'budget', least: 0, most: 24_576 } },
  { match: /hydrogen/, ...current, thinking: level('low', 'xhigh') },
  { match: /pro(?:-|$)/, ...current, thinking: level('low') },
  { match: /gemini-flash-latest|gemini-3\.[789]-flash/, ...current, thinking: level('low') },
  { match: /gemini-3(?:\.[0-6])?-flash/, ...current, thinking: level('minimal') },
]
/** An unknown model is treated as one of the newest, with the values that all of these take. */
const newest: GeminiFamily = { match: /^/, ...current, thinking: level('low') }

export const geminiFamilyOf = (upstreamModel: string): GeminiFamily =>
  families.find(({ match }) => match.test(upstreamModel)) ?? newest

/** Shares of the largest budget, in per cent. */
const shares: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 2,
  low: 10,
  medium: 30,
  high: 60,
  xhigh: 90,
  max: 100,
}
const ranks: readonly Level[] = ['minimal', 'low', 'medium', 'high', 'xhigh']
/** The least budget that becomes a level. */
const worth: readonly (readonly [tokens: number, level: Level])[] = [
  [16_384, 'high'],
  [4_096, 'medium'],
  [1_024, 'low'],
]

/** The `thinkingConfig` of a turn. Undefined: the turn asks for none, or the model does not reason. */
export function thinkingConfigOf(
  { effort, thinkingTokens, showReasoning }: Pick<Turn, 'effort' | 'thinkingTokens' | 'showReasoning'>,
  { thinking }: GeminiFamily,
): object | undefined {
  if (thinking.kind === 'none') return undefined
  const shown = showReasoning === undefined ? {} : { includeThoughts: showReasoning }
  if (effort === undefined && thinkingTokens === undefined) {
    return showReasoning === undefined ? undefined : shown
  }
  if (thinking.kind === 'level') return { thinkingLevel: levelOf(effort, thinkingTokens, thinking), ...shown }
  const { least, most } = thinking
  const wanted = thinkingTokens ?? (effort === undefined || effort === 'none' ? 0 : (shares[effort] * most) / 100)
  const thinkingBudget = Math.min(Math.max(Math.round(wanted), least), most)
  return thinkingBudget === 0 ? { thinkingBudget } : { thinkingBudget, ...shown }
}

type Levels = Extract<Thinking, { kind: 'level' }>

function levelOf(effort: Effort | undefined, tokens: number | undefined, { lowest, highest }: Levels): Level {
  const byEffort = effort === 'none' ? 'minimal' : effort === 'max' ? 'xhigh' : effort
  const wanted = byEffort ?? worth.find(([least]) => (tokens ?? 0) >= least)?.[1] ?? 'minimal'
  const rank = Math.min(Math.max(ranks.indexOf(wanted), ranks.indexOf(lowest)), ranks.indexOf(highest))
  return ranks[rank] ?? lowest
}
