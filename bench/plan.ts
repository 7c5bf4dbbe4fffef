/**
 * bun bench/plan.ts: the CPU time of a plan over three measured offers, by policy. The relay makes one a request.
 * Prints the medians of the rounds.
 */
import type { Offer } from '../src/domain/catalog.ts'
import { defaultModelLimits } from '../src/domain/model-limits.ts'
import { unitPrices } from '../src/domain/price.ts'
import { policyNames, type PolicyName } from '../src/domain/routing.ts'
import { HealthBook } from '../src/relay/health-book.ts'
import { planAttempts } from '../src/router/plan.ts'
import { workClassOf } from '../src/router/signals.ts'

const ROUNDS = 7
const PLANS = 100_000
const request = { textBytes: 2_000, stream: false, choices: 1, outputTokensMax: undefined }

const offers: readonly Offer[] = [1n, 2n, 3n].map((usd) => ({
  id: `offer-${usd}`,
  modelId: 'model',
  providerId: `provider-${usd}`,
  upstreamModel: 'model',
  priority: 0,
  weight: 1,
  cost: {
    id: 1,
    effectiveFromMs: 0,
    nanoPerMillion: unitPrices({ input: usd * 1_000_000_000n, output: usd * 2_000_000_000n }),
  },
}))
const book = new HealthBook(() => Date.now())
const work = workClassOf(request)
for (const [i, { id }] of offers.entries()) {
  book.tried(id, work)
  book.arrived(id, work)
  book.answered(id, work, 100 * (i + 1))
}

function planUs(routing: PolicyName): number {
  const model = { offers, limits: { ...defaultModelLimits, routing } }
  const before = process.cpuUsage()
  for (let i = 0; i < PLANS; i++) {
    const state = { health: book.all, signals: book.signals, nowMs: Date.now(), random: Math.random }
    planAttempts({ model, request, ...state })
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / PLANS
}

const rounds = Array.from({ length: ROUNDS }, () => policyNames.map(planUs))
for (const [i, name] of policyNames.entries()) {
  const times = rounds.map((round) => round[i] ?? Number.NaN).toSorted((a, b) => a - b)
  console.log(`${name}: ${times[ROUNDS >> 1]?.toFixed(2)} µs a plan`)
}
