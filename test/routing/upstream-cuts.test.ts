/**
 * Upstreams whose connection ends after any byte of an answer, by a close or a reset: what the client sees and pays.
 * The short form takes a tenth of the bytes, spread over all and chosen by a seed.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ChatWire, dataOf, type WireAnswer } from '../support/chat-wire.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { isComplete, startRawUpstream, type RawUpstream } from '../support/raw-upstream.ts'
import {
  recordedReplies,
  recordedStreams,
  WHOLE_USAGE,
  type Meaning,
  type RecordedReply,
  type RecordedStream,
} from '../support/recorded-answers.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'
import { costOf, PRICE_INPUT, PRICE_OUTPUT, promptTokens, tokensOf, type Tokens } from '../support/token-price.ts'

const CLIENTS = 24
/** How long the last byte has to be read before a reset, which would overtake it. */
const RESET_PAUSE_MS = 10
/** One in so many has a second offer: they must fit into the budget of second tries. */
const PAIR_EVERY = 6
const BATCH = 250

type Recording = RecordedStream | RecordedReply
type Cut = {
  readonly recording: Recording
  readonly afterBytes: number
  readonly by: 'fin' | 'rst'
  readonly pieceBytes: number | undefined
}
/** Every byte of every recording, and behind the last. */
const places = [...recordedStreams, ...recordedReplies].flatMap((recording) =>
  Array.from({ length: recording.bytes.length + 1 }, (_, afterBytes) => ({ recording, afterBytes })),
)
const CUTS = countOf('cuts')

/** A step that shares no divisor with their number comes by each place once a round, and spreads fewer over all. */
const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b))
let step = Math.floor(places.length * 0.618)
while (gcd(step, places.length) !== 1) step++
/** In one of the first four rounds. */
const FIRST = seedOfRun() % (4 * places.length)

/** Two rounds are every place with both ends. After those the answers come in pieces, of another size each round. */
function cutOf(serial: number): Cut {
  const round = Math.floor(serial / places.length)
  const at = (serial * step) % places.length
  const { recording, afterBytes } = places[at] as (typeof places)[number]
  return { recording, afterBytes, by: (at + round) % 2 ? 'rst' : 'fin', pieceBytes: round < 2 ? undefined : 29 * round }
}

type Plan = Cut & {
  readonly id: string
  readonly model: 'single' | 'pair'
  cutsLeft: number
  /** How many requests reached the vendor. */
  met: number
}
const plans = new Map<string, Plan>()

let vendor: RawUpstream
let proxy: FaultProxy
let gateway: TestGateway

const SPARE_STREAM = recordedStreams[0] as RecordedStream
const SPARE_REPLY = recordedReplies[0] as RecordedReply

beforeAll(async () => {
  vendor = startRawUpstream({
    onData(caller) {
      if (!isComplete(caller)) return
      const plan = plans.get(/plan (\d{6})/.exec(caller.received)?.[1] ?? '')
      caller.received = ''
      const link = proxy.links.get(caller.socket.remotePort)
      if (!plan || !link) return caller.socket.terminate()
      plan.met++
      const { recording, afterBytes, by, pieceBytes } = plan
      if (plan.cutsLeft-- > 0) {
        const pieces = pieceBytes === undefined ? {} : { slice: { bytes: pieceBytes, pauseMs: 0 } }
        link.set({ down: { ...pieces, cut: { afterBytes, by, pauseMs: by === 'rst' ? RESET_PAUSE_MS : 0 } } })
        caller.socket.write(recording.bytes)
      } else {
        link.set({})
        caller.socket.write(('json' in recording ? SPARE_REPLY : SPARE_STREAM).bytes)
      }
    },
  })
  proxy = new FaultProxy({ port: vendor.port })
  const price = `price: { input: ${PRICE_INPUT}, output: ${PRICE_OUTPUT} }`
  gateway = await startGateway({
    yaml: `
sandbox: false
providers: { vendor: { base_url: '${proxy.origin}/v1', allow_private: true } }
models:
  single: { ${price}, offers: [{ provider: vendor, model: a }] }
  pair: { ${price}, offers: [{ provider: vendor, model: a }, { provider: vendor, model: b }] }
`,
    env: { TOLLGATE_LOG: 'warn' },
  })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  proxy.stop()
  vendor.stop()
}, 30_000)

const promptOf = (id: string): string => `plan ${id}: what lies in the harbour?`

/** What the client must see. */
type SeenRequest = { readonly zone: 'nothing' | 'middle' | 'complete'; readonly words: string }
/** And what it must pay. */
type Outcome = SeenRequest & { readonly cost: number }

const NOTHING: Outcome = { zone: 'nothing', words: '', cost: 0 }

/** What some first events of a stream come to, by their meaning alone. */
function outcomeOf(events: readonly Meaning[], id: string): Outcome {
  let words = ''
  let usage: Tokens | undefined
  let hasBegun = false
  let isComplete = false
  for (const event of events) {
    if (event.isError) break
    if (event.isDone) isComplete = hasBegun
    words += event.words ?? ''
    hasBegun ||= event.words !== undefined || event.isFinish === true
    isComplete ||= event.isFinish === true
    usage = event.usage ?? usage
  }
  if (!hasBegun) return NOTHING
  const tokens = usage ?? { prompt: promptTokens(promptOf(id)), completion: tokensOf(words) }
  return { zone: isComplete ? 'complete' : 'middle', words, cost: costOf(tokens) }
}

/** The outcomes a cut may have; the last is the one it has when nothing that was sent got lost. */
function outcomesOf({ recording, afterBytes, by, model, id }: Plan): Outcome[] {
  if ('json' in recording) {
    const isLost = afterBytes < recording.bytes.length || (by === 'rst' && recording.framing === 'close')
    const whole: Outcome = { zone: 'complete', words: '', cost: costOf(WHOLE_USAGE) }
    if (by === 'rst' && !isLost) return [NOTHING, whole].map((outcome) => orSecond(outcome, model, whole))
    return [orSecond(isLost ? NOTHING : whole, model, whole)]
  }
  // A reset is no end of an event, an end of the connection may be.
  const blankLine = by === 'rst' && recording.framing === 'close' ? 2 : 0
  const arrived = recording.events.filter(({ endsAt }) => endsAt + blankLine <= afterBytes).length
  const second = outcomeOf(SPARE_STREAM.events, id)
  const outcomes: Outcome[] = []
  for (let count = by === 'rst' ? 0 : arrived; count <= arrived; count++) {
    outcomes.push(orSecond(outcomeOf(recording.events.slice(0, count), id), model, second))
  }
  return outcomes
}

/** Before the first event the next offer answers, where there is one. */
const orSecond = (outcome: Outcome, model: Plan['model'], second: Outcome): Outcome =>
  outcome.zone === 'nothing' && model === 'pair' ? second : outcome

type Delta = { content?: string; reasoning_content?: string; tool_calls?: { function?: Record<string, string> }[] }
type Event = { model?: string; error?: { code: string }; choices?: { delta: Delta }[] }

const wordsOf = ({ content = '', reasoning_content: thought = '', tool_calls: calls = [] }: Delta): string =>
  (content ?? '') + thought + calls.map(({ function: f }) => (f?.['name'] ?? '') + (f?.['arguments'] ?? '')).join('')

/** What the client saw of an answer, or why it must not have seen that. */
function seenIn({ status, body, isWhole }: WireAnswer, { recording, model }: Plan): SeenRequest | string {
  if (!isWhole) return 'broken off without a word'
  if (status !== 200) {
    const { error } = JSON.parse(body) as Event
    return status === 502 && error?.code === 'upstream_error' ? { zone: 'nothing', words: '' } : `answered ${status}`
  }
  if ('json' in recording) {
    const theirs = JSON.parse(SPARE_REPLY.json) as object
    const isSame = Bun.deepEquals(JSON.parse(body), { ...theirs, model })
    return isSame ? { zone: 'complete', words: '' } : 'another reply'
  }
  const data = dataOf(body)
  const isDone = data.at(-1) === '[DONE]'
  const events = (isDone ? data.slice(0, -1) : data).map((text) => JSON.parse(text) as Event)
  const errors = events.filter(({ error }) => error !== undefined)
  const isFailed = errors.length === 1 && events.at(-1)?.error?.code === 'upstream_error'
  if (isDone === isFailed || errors.length > (isFailed ? 1 : 0)) return 'neither an end nor an error'
  if (events.some((event) => !event.error && event.model !== model)) return 'the name of another model'
  const words = events.flatMap(({ choices = [] }) => choices.map(({ delta }) => wordsOf(delta))).join('')
  return { zone: isDone ? 'complete' : 'middle', words }
}

type Member = {
  readonly name: string
  readonly key: string
  spent: number
  readonly unpaid: Map<string, Plan & { outcome: Outcome }>
}
const figures = { nothing: 0, middle: 0, complete: 0, second: 0, lost: 0 }

async function member(name: string): Promise<Member> {
  await gateway.operate('account.create', { name, balance: '1000' })
  const { secret: key } = await gateway.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
  return { name, key, spent: 0, unpaid: new Map() }
}

const port = (): number => Number(new URL(gateway.baseUrl).port)

async function cut(serial: number, who: Member): Promise<void> {
  const model = serial % PAIR_EVERY === 0 ? 'pair' : 'single'
  const id = String(100_000 + (serial % 900_000))
  const plan: Plan = { ...cutOf(serial), id, model, cutsLeft: model === 'pair' ? 1 : Infinity, met: 0 }
  plans.set(id, plan)
  const stream = !('json' in plan.recording)
  const body = {
    model,
    stream,
    max_tokens: 1_000,
    messages: [{ role: 'user', content: promptOf(id) }],
    ...('choices' in plan.recording && plan.recording.choices > 1 ? { n: plan.recording.choices } : {}),
    ...(stream && serial % 2 ? { stream_options: { include_usage: true } } : {}),
  }
  const answer = await (await ChatWire.send({ port: port(), key: who.key, body })).whole()
  plans.delete(id)
  const seen = seenIn(answer, plan)
  const about = `${plan.recording.name}, ${plan.by} after ${plan.afterBytes} bytes, ${model}\n${answer.body}`
  const outcomes = outcomesOf(plan)
  const outcome = outcomes.findLast(({ zone, words }) => Bun.deepEquals({ zone, words }, seen))
  // A POST that met a connection which was just closed is not sent again: it is the next cut that says something.
  const isRace = plan.met < (model === 'pair' ? 2 : 1)
  if (!outcome && isRace && typeof seen === 'object' && seen.zone === 'nothing') {
    who.unpaid.set(answer.requestId, { ...plan, outcome: NOTHING })
    return cut(serial, who)
  }
  if (!outcome) expect(seen as SeenRequest | undefined, about).toEqual(outcomes.at(-1))
  else {
    figures[outcome.zone]++
    if (outcome !== outcomes.at(-1)) figures.lost++
    who.unpaid.set(answer.requestId, { ...plan, outcome })
  }
}

type Row = { id: string; charged: string; attempts: string; outcome: string }
const OUTCOMES = { nothing: 'failed', middle: 'cut', complete: 'completed' }

/** Compares what was charged with what was due. */
async function settleUp(who: Member): Promise<void> {
  const rows = await gateway.operate<Row[]>('request.list', { account: who.name, limit: 2 * BATCH })
  for (const { id, charged, attempts, outcome } of rows) {
    const due = who.unpaid.get(id)
    if (!due) continue
    who.unpaid.delete(id)
    who.spent += Number(charged)
    if ((JSON.parse(attempts) as unknown[]).length > 1) figures.second++
    const about = `${due.recording.name}, ${due.by} after ${due.afterBytes} bytes, ${due.model}`
    expect({ about, charged: Number(charged), outcome }).toEqual({
      about,
      charged: due.outcome.cost,
      outcome: OUTCOMES[due.outcome.zone],
    })
  }
  expect(who.unpaid.size).toBe(0)
}

test(`${CUTS} cuts: an answer, an error or the next offer; never a silent end, and paid accordingly`, async () => {
  const members = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => member(`victim-${i}`)))
  await Promise.all(
    members.map(async (who, first) => {
      for (let serial = first; serial < CUTS; serial += CLIENTS) {
        await cut(FIRST + serial, who)
        if (who.unpaid.size >= BATCH) await settleUp(who)
      }
      await settleUp(who)
    }),
  )
  expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
  expect(gateway.output()).not.toContain('"error"')
  for (const { name, spent } of members) {
    const { available_nano_usd: left } = await gateway.operate<{ available_nano_usd: string }>('account.show', {
      account: name,
    })
    expect(1_000e9 - Number(left)).toBe(spent)
  }
  const { nothing, middle, complete, second, lost } = figures
  reportFigure(
    `${CUTS} cuts from ${FIRST} on: ${nothing} before the first event, ${middle} in the middle, ${complete} complete, ` +
      `${second} of those by a second offer; ${lost} resets overtook bytes`,
  )
  expect(Math.min(nothing, middle, complete, second)).toBeGreaterThan(CUTS / 200)
  expect(lost).toBeLessThan(CUTS / 20)
}, 3_600_000)
