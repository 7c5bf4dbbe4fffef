/** What is simulated, and what must come out (docs/routing.md). */
import type { PolicyName } from '../../src/domain/routing.ts'
import { MINUTE_MS } from '../../src/lib/primitives/units.ts'
import { figuresOf, type Figures } from './figures.ts'
import { simulate, type SimOutcome, type Simulation } from './simulation.ts'
import { agentTraffic, madeTraffic, recordedLikeTraffic, type SimRequest } from './traffic.ts'
import type { Fault, SimVendor } from './vendors.ts'

const usual = { input: 1, cached: 0.1, output: 4 }
const dearer = { input: 9, cached: 0.9, output: 36 }
const none: Fault = { kind: 'none' }

/** Three vendors, of which the last has a fault or other prices. */
const threeVendors = ({ fault = none, usd = usual }: { fault?: Fault; usd?: SimVendor['usd'] } = {}) => [
  { name: 'first', fault: none, usd: usual },
  { name: 'second', fault: none, usd: usual },
  { name: 'third', fault, usd },
]
export const vendorNames = ['first', 'second', 'third']

export type Size = { readonly seed: number; readonly requests: number; readonly perSecond: number }
export type Traffic = { readonly name: string; readonly requests: readonly SimRequest[] }

export const trafficsOf = (size: Size): readonly Traffic[] => [
  { name: 'made', requests: madeTraffic(size) },
  { name: 'as recorded', requests: recordedLikeTraffic(size) },
]

type Trial = Pick<Simulation, 'policy' | 'traffic' | 'seed'> & {
  readonly vendors?: readonly SimVendor[]
  readonly isSticky?: boolean
}
const run = ({ vendors = threeVendors(), isSticky = false, ...trial }: Trial): readonly SimOutcome[] =>
  simulate({ vendors, isSticky, ...trial })

export type ByPolicy = Readonly<Record<string, Figures>>
const policies: readonly PolicyName[] = ['weighted', 'latency', 'cost', 'balanced']

const byPolicy = (trial: Omit<Trial, 'policy'>): ByPolicy =>
  Object.fromEntries(policies.map((policy) => [policy, figuresOf(run({ ...trial, policy }))]))

/** One vendor of three is 2.5 times slower. */
export const slowOffer = ({ requests: traffic }: Traffic, seed: number): ByPolicy =>
  byPolicy({ traffic, seed, vendors: threeVendors({ fault: { kind: 'slow', factor: 2.5 } }) })

/** One vendor of three costs nine times as much. */
export const dearOffer = ({ requests: traffic }: Traffic, seed: number): ByPolicy =>
  byPolicy({ traffic, seed, vendors: threeVendors({ usd: dearer }) })

/** Conversations, with each policy, and once without stickiness. */
export function stickyOffers({ requests: traffic }: Traffic, seed: number): ByPolicy {
  const hopping = figuresOf(run({ policy: 'weighted', traffic, seed }))
  return { 'not sticky': hopping, ...byPolicy({ traffic, seed, isSticky: true }) }
}

export const conversations = (size: Size): ByPolicy =>
  stickyOffers({ name: 'agents', requests: agentTraffic(size) }, size.seed)

/** One vendor is there for three minutes and dead for three. */
export function comingAndGoing(size: Size): Readonly<Record<string, readonly SimOutcome[]>> {
  const traffic = agentTraffic(size)
  const vendors = threeVendors({ fault: { kind: 'comes_and_goes', everyMs: 3 * MINUTE_MS } })
  return Object.fromEntries(
    policies.map((policy) => [policy, run({ policy, traffic, seed: size.seed, vendors, isSticky: true })]),
  )
}

const faults: Readonly<Record<string, Fault>> = {
  healthy: none,
  dead: { kind: 'dead' },
  hangs: { kind: 'hangs' },
  'slow (10 ×)': { kind: 'slow', factor: 10 },
  lies: { kind: 'lies', share: 0.5 },
}

/** One vendor of three has a fault. */
export const faultyVendor = ({ requests: traffic }: Traffic, policy: PolicyName, seed: number): ByPolicy =>
  Object.fromEntries(
    Object.entries(faults).map(([name, fault]) => [
      name,
      figuresOf(run({ policy, traffic, seed, vendors: threeVendors({ fault }) })),
    ]),
  )
