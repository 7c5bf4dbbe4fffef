/** How a request wishes to be routed. docs/api.md says what each hint means, and whose words they are. */
import type { NanoUsd } from './money.ts'
import type { PolicyName } from './routing.ts'

export type RoutingHints = {
  /** The names of models to try if the request's own model cannot serve it. */
  readonly fallbacks: readonly string[]
  readonly provider: ProviderHints
}

export const providerSorts = ['price', 'throughput', 'latency'] as const
export type ProviderSort = (typeof providerSorts)[number]

export type ProviderHints = {
  /** Ids of providers. Those in `order` come first. */
  readonly order: readonly string[]
  /** Undefined: every provider. */
  readonly only: readonly string[] | undefined
  readonly ignore: readonly string[]
  readonly sort: ProviderSort | undefined
  /** Whether the models are sorted, too. Otherwise they keep the order in which the request names them. */
  readonly sortsModels: boolean
  readonly maxPrice: MaxPrice | undefined
  readonly allowsFallbacks: boolean
  /** Whether an offer that would leave out a field of the request is passed over. */
  readonly requiresParameters: boolean
}

/** The most that the client pays: for a million tokens, and for one image. */
export type MaxPrice = {
  readonly prompt: NanoUsd | undefined
  readonly completion: NanoUsd | undefined
  readonly image: NanoUsd | undefined
}

export const noProviderHints: ProviderHints = {
  order: [],
  only: undefined,
  ignore: [],
  sort: undefined,
  sortsModels: false,
  maxPrice: undefined,
  allowsFallbacks: true,
  requiresParameters: false,
}

/** The policy that does what a sort asks for. An answer is over soonest where it begins soon and flows fast. */
export const policyOfSort: Readonly<Record<ProviderSort, PolicyName>> = {
  price: 'cost',
  throughput: 'latency',
  latency: 'latency',
}

/** Suffixes of a model's name that stand for a sort. */
const variants: readonly (readonly [suffix: string, sort: ProviderSort])[] = [
  [':floor', 'price'],
  [':nitro', 'throughput'],
]

/** The sort that the suffix of a name asks for, if it has one. */
export const sortOfVariant = (name: string): ProviderSort | undefined =>
  variants.find(([suffix]) => name.endsWith(suffix))?.[1]

/** The name without its suffix, or undefined if it has none. */
export function withoutVariant(name: string): string | undefined {
  const suffix = variants.find(([one]) => name.endsWith(one))?.[0]
  return suffix && name.slice(0, -suffix.length)
}
