/**
 * What the families of Claude take, as data, from Anthropic's model pages and SDKs (read 2026-11). The first row with a
 * name that is part of the model's name counts. A Claude that has no row is treated as the newest.
 */
import type { Effort } from '../domain/turn.ts'

type Level = Exclude<Effort, 'none' | 'minimal'>

export type ClaudeFamily = {
  /** Parts of model names. One of them is enough. */
  readonly names: readonly string[]
  /** The longest answer. */
  readonly outputTokensMax: number | undefined
  /** Whether temperature, top_p and top_k are taken. */
  readonly sampling: boolean
  /** How reasoning is turned off: by `disabled`, by reasoning between tools only, or not at all, but at the least. */
  readonly off: 'disabled' | 'between_tools' | 'least'
  /** How an effort is sent: as a level of the vendor's own, or as a budget in tokens. */
  readonly thinking: 'adaptive' | 'budget'
  /** Whether a budget in tokens is taken. */
  readonly budget: boolean
  /** Whether tools can be forced. */
  readonly forcedTool: boolean
  /** The levels of `output_config.effort`, lowest first. Empty: the field does not exist. */
  readonly efforts: readonly Level[]
  /** Whether `output_config.format` and strict tools are understood. */
  readonly schemas: boolean
  /** Whether a system message may stand among the others. */
  readonly systemInside: boolean
  /** Whether the last message may be the assistant's, to be continued (not from 4.6 on: anomalyco/opencode#13768). */
  readonly prefill: boolean
}

const toMax: readonly Level[] = ['low', 'medium', 'high', 'max']
const withXhigh: readonly Level[] = ['low', 'medium', 'high', 'xhigh', 'max']

const newest: ClaudeFamily = {
  names: ['claude'],
  outputTokensMax: 128_000,
  sampling: false,
  off: 'disabled',
  thinking: 'adaptive',
  budget: true,
  forcedTool: true,
  efforts: withXhigh,
  schemas: true,
  systemInside: true,
  prefill: false,
}
const unforced: ClaudeFamily = { ...newest, off: 'least', budget: false, forcedTool: false }
const classic: ClaudeFamily = {
  ...newest,
  outputTokensMax: 64_000,
  sampling: true,
  thinking: 'budget',
  efforts: [],
  systemInside: false,
  prefill: true,
}

const families: readonly ClaudeFamily[] = [
  { ...unforced, names: ['sonnet-5-5'], off: 'between_tools' },
  { ...unforced, names: ['opus-5-5', 'fable-5-1', 'fable-5-2'] },
  { ...unforced, names: ['fable-5'], forcedTool: true },
  { ...newest, names: ['haiku-5-5'], budget: false },
  { ...newest, names: ['opus-5'] },
  { ...newest, names: ['opus-4-8', 'sonnet-5'] },
  { ...newest, names: ['opus-4-7'], systemInside: false },
  { ...newest, names: ['opus-4-6', 'sonnet-4-6'], sampling: true, efforts: toMax, systemInside: false },
  { ...classic, names: ['opus-4-5'], efforts: ['low', 'medium', 'high'] },
  { ...classic, names: ['sonnet-4-5', 'haiku-4-5'] },
  { ...classic, names: ['opus-4-1'], outputTokensMax: 32_000 },
  newest,
]

/** A model of another vendor, on a server that speaks the format: only what the format always had. */
const other: ClaudeFamily = { ...classic, names: [], outputTokensMax: undefined, schemas: false }

export function claudeFamilyOf(upstreamModel: string): ClaudeFamily {
  const name = upstreamModel.toLowerCase().replaceAll('.', '-')
  return families.find(({ names }) => names.some((part) => name.includes(part))) ?? other
}

/** The limit of an unknown model. Every model of this format takes it (2026-11). */
const UNKNOWN_OUTPUT_TOKENS_MAX = 8_192

/** The output limit of a request without one, because the format demands one: the longest answer that is known. */
export function demandedLimit(upstreamModel: string, modelOutputTokensMax: number | undefined): number {
  const { outputTokensMax } = claudeFamilyOf(upstreamModel)
  const most = Math.min(modelOutputTokensMax ?? Infinity, outputTokensMax ?? Infinity)
  return Number.isFinite(most) ? most : UNKNOWN_OUTPUT_TOKENS_MAX
}

/** The nearest level that a family has. */
export function levelOf(effort: Effort, { efforts }: ClaudeFamily): Level | undefined {
  const order: readonly Effort[] = ['none', 'minimal', ...withXhigh]
  const wanted = order.indexOf(effort)
  return efforts.find((level) => order.indexOf(level) >= wanted) ?? efforts.at(-1)
}

/** The share of an answer's limit that is the budget of an effort. */
const shares: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.9,
}
const BUDGET_TOKENS_MIN = 1_024

/** The budget for an effort. Undefined: the answer's limit leaves no room for one. */
export function budgetOf(asked: Exclude<Effort, 'none'> | number, outputTokensMax: number): number | undefined {
  const share = typeof asked === 'number' ? asked : Math.floor(shares[asked] * outputTokensMax)
  const budget = Math.min(Math.max(share, BUDGET_TOKENS_MIN), outputTokensMax - 1)
  return budget < BUDGET_TOKENS_MIN ? undefined : budget
}
