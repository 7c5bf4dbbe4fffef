/**
 * Sends simulated requests to simulated vendors, with the plan, the health book and the retry budget of the gateway.
 * Time is simulated, too: a day takes seconds.
 */
import type { Offer } from '../../src/domain/catalog.ts'
import { defaultModelLimits } from '../../src/domain/model-limits.ts'
import { unitPrices } from '../../src/domain/price.ts'
import type { PolicyName } from '../../src/domain/routing.ts'
import { HealthBook } from '../../src/relay/health-book.ts'
import { RetryBudget } from '../../src/relay/retry-budget.ts'
import { conversationKeyOf } from '../../src/router/conversations.ts'
import { planAttempts } from '../../src/router/plan.ts'
import { roughTextBytes, workClassOf } from '../../src/router/signals.ts'
import { randomFrom, type SimRequest } from './traffic.ts'
import { VendorServer, type SimVendor, type VendorAnswer } from './vendors.ts'

export type Simulation = {
  readonly policy: PolicyName
  readonly isSticky: boolean
  readonly vendors: readonly SimVendor[]
  readonly traffic: readonly SimRequest[]
  readonly seed: number
}

/** What became of one request. */
export type SimOutcome = {
  readonly atMs: number
  /** Undefined: nobody answered it. */
  readonly firstEventMs: number | undefined
  readonly attempts: number
  readonly vendor: string | undefined
  readonly costUsd: number
  /** Whether it continues a conversation, and found all that its last request had sent in the cache. */
  readonly cache: 'none' | 'hit' | 'missed'
  /** Whether its conversation left an offer that was there. */
  readonly movedInVain: boolean
}

const ATTEMPTS_MAX = 3
/** Simulated time begins here, because a signal at time zero means that there is none. */
const START_MS = 1_000_000

const nano = (usd: number): bigint => BigInt(Math.round(usd * 1e9))

function offerOf({ name, usd }: SimVendor): Offer {
  const nanoPerMillion = unitPrices({
    input: nano(usd.input),
    cachedInput: nano(usd.cached),
    output: nano(usd.output),
  })
  const cost = { id: 1, effectiveFromMs: 0, nanoPerMillion }
  return { id: name, modelId: 'model', providerId: name, upstreamModel: 'model', priority: 0, weight: 1, cost }
}

export const simulate = (simulation: Simulation): readonly SimOutcome[] => new Run(simulation).outcomes()

type Waiting = { readonly atMs: number; readonly act: () => void }
type SimCall = { readonly request: SimRequest; readonly plan: readonly Offer[]; readonly index: number }

class Run {
  private nowMs = START_MS
  private readonly simulation: Simulation
  private readonly book = new HealthBook(() => this.nowMs)
  private readonly retries = new RetryBudget()
  private readonly offers: readonly Offer[]
  private readonly servers: ReadonlyMap<string, VendorServer>
  private readonly random: () => number
  private readonly ended: SimOutcome[] = []
  private readonly served = new Map<string, { readonly vendor: string; readonly inputTokens: number }>()
  private readonly queue = new EventQueue()

  constructor(simulation: Simulation) {
    this.simulation = simulation
    this.offers = simulation.vendors.map(offerOf)
    this.random = randomFrom(simulation.seed)
    this.servers = new Map(
      simulation.vendors.map((vendor, i) => [
        vendor.name,
        new VendorServer(vendor, randomFrom(simulation.seed + 1 + i)),
      ]),
    )
  }

  outcomes(): readonly SimOutcome[] {
    for (const [index, request] of this.simulation.traffic.entries()) {
      this.queue.add({ atMs: START_MS + request.atMs, act: () => this.arrive(request, index) })
    }
    for (let next = this.queue.take(); next; next = this.queue.take()) {
      this.nowMs = next.atMs
      next.act()
    }
    return this.ended
  }

  private arrive(request: SimRequest, index: number): void {
    const { policy, isSticky } = this.simulation
    const name = isSticky ? request.conversation : undefined
    const conversation = name === undefined ? undefined : conversationKeyOf([name])
    const warm = conversation && this.book.conversations.warm(conversation, this.nowMs)
    const plan = planAttempts({
      model: { offers: this.offers, limits: { ...defaultModelLimits, routing: policy } },
      request: routedOf(request),
      health: this.book.all,
      signals: this.book.signals,
      nowMs: this.nowMs,
      random: this.random,
      conversation,
      warm,
    })
    this.retries.earn()
    this.attempt({ request, plan, index }, 0)
  }

  private attempt(asked: SimCall, failed: number): void {
    const { request, plan } = asked
    const offer = plan[failed]
    if (!offer || failed === ATTEMPTS_MAX || (failed > 0 && !this.retries.spend(this.nowMs))) {
      return this.finish(asked, { attempts: failed })
    }
    const work = workClassOf(routedOf(request))
    this.book.tried(offer.id, work)
    const startedMs = this.nowMs
    const answer = this.serverOf(offer).answer(request, startedMs - START_MS)
    if (answer.kind === 'failure') {
      this.after(answer.afterMs, () => {
        this.book.arrived(offer.id, work)
        if (answer.isTimeout) this.book.gaveUp(offer.id, work, answer.afterMs)
        this.book.failed(offer.id, { kind: answer.isTimeout ? 'timeout' : 'server', message: '' })
        this.attempt(asked, failed + 1)
      })
      return
    }
    this.after(answer.firstEventMs, () => this.begin(asked, offer, { answer, attempts: failed + 1 }))
  }

  private begin(asked: SimCall, offer: Offer, { answer, attempts }: SimStart): void {
    const { request } = asked
    const { conversation } = request
    const work = workClassOf(routedOf(request))
    this.book.arrived(offer.id, work)
    this.book.answered(offer.id, work, answer.firstEventMs)
    if (conversation !== undefined && this.simulation.isSticky) {
      this.book.remembered(conversationKeyOf([conversation]), offer, routedOf(request))
    }
    this.finish(asked, { attempts, offer, answer })
    this.after(answer.lastMs - answer.firstEventMs, () => {
      this.book.succeeded(offer.id)
      const times = { firstEventMs: answer.firstEventMs, tookMs: answer.lastMs }
      this.book.streamed(offer, work, { tokens: request.outputTokens, times })
    })
  }

  private finish({ request, index }: SimCall, { attempts, offer, answer }: Finish): void {
    const { conversation, atMs } = request
    const before = conversation === undefined ? undefined : this.served.get(conversation)
    if (conversation !== undefined && offer) {
      this.served.set(conversation, { vendor: offer.id, inputTokens: request.inputTokens })
    }
    this.ended[index] = {
      atMs,
      firstEventMs: answer ? this.nowMs - START_MS - atMs : undefined,
      attempts,
      vendor: offer?.id,
      costUsd: offer && answer ? this.costOf(offer, request, answer.cachedTokens) : 0,
      cache: before === undefined || !answer ? 'none' : answer.cachedTokens >= before.inputTokens ? 'hit' : 'missed',
      movedInVain:
        before !== undefined && offer !== undefined && before.vendor !== offer.id && this.isThere(before.vendor),
    }
  }

  /** Whether an offer could have served a request that another has served. */
  private isThere(offerId: string): boolean {
    return !this.book.isResting(offerId) && (this.servers.get(offerId)?.isUp(this.nowMs - START_MS) ?? false)
  }

  private costOf(offer: Offer, { inputTokens, outputTokens }: SimRequest, cachedTokens: number): number {
    const { input, cached, output } = this.serverOf(offer).vendor.usd
    return ((inputTokens - cachedTokens) * input + cachedTokens * cached + outputTokens * output) / 1e6
  }

  private serverOf({ id }: Offer): VendorServer {
    const server = this.servers.get(id)
    if (!server) throw new Error(`no vendor ${id}`)
    return server
  }

  private after(waitMs: number, act: () => void): void {
    this.queue.add({ atMs: this.nowMs + waitMs, act })
  }
}

type SimAnswer = Extract<VendorAnswer, { kind: 'answer' }>
type SimStart = { readonly answer: SimAnswer; readonly attempts: number }
type Finish = { readonly attempts: number; readonly offer?: Offer; readonly answer?: SimAnswer }

const routedOf = ({ inputTokens }: SimRequest) => ({
  textBytes: roughTextBytes(inputTokens),
  stream: true,
  choices: 1,
  outputTokensMax: undefined,
})

/** A binary heap by time. */
class EventQueue {
  private readonly heap: Waiting[] = []

  add(event: Waiting): void {
    const { heap } = this
    let at = heap.push(event) - 1
    for (let above = (at - 1) >> 1; at > 0 && this.timeAt(above) > event.atMs; above = (at - 1) >> 1) {
      heap[at] = heap[above] as Waiting
      at = above
    }
    heap[at] = event
  }

  take(): Waiting | undefined {
    const { heap } = this
    const [first] = heap
    const last = heap.pop()
    if (!last || heap.length === 0) return first
    let at = 0
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (this.timeAt(child + 1) < this.timeAt(child)) child++
      if (this.timeAt(child) >= last.atMs) break
      heap[at] = heap[child] as Waiting
      at = child
    }
    heap[at] = last
    return first
  }

  private timeAt(at: number): number {
    return this.heap[at]?.atMs ?? Number.POSITIVE_INFINITY
  }
}
