/** Plays a planned conversation, turn by turn, with client, gateway and vendors in one process. */
import type { Model } from '../../../src/domain/catalog.ts'
import type { Dialect } from '../../../src/domain/turn.ts'
import type { KeptTurn, Adapter, AdapterContext, UpstreamRequest } from '../../../src/formats/core/contract.ts'
import { AwsEventDecoder } from '../../../src/lib/http/aws-event-stream.ts'
import { SseDecoder, type SseEvent } from '../../../src/lib/http/sse.ts'
import { dialectsFor } from '../../../src/relay/offer-choice.ts'
import { readSent } from '../../support/dialect-fixtures.ts'
import { clients, type Client, type IssuedCall } from './client.ts'
import { heard, type ClientView } from './echo.ts'
import type { Plan, PlannedResult, PlannedTurn } from './plan.ts'
import {
  checkTold,
  compact,
  sealFor,
  sealsIn,
  violated,
  Violation,
  type Step,
  type TrueCall,
  type TrueResult,
} from './truth.ts'
import { answer, destinationOf, received, vendors, type VendorReply, type Request, type Vendor } from './vendor.ts'

/** A model of text; nothing else of it is looked at. */
const imageService = { model: { kind: 'text' } as Model, imageService: {} } as AdapterContext
const USAGE = {
  inputFresh: 40,
  inputCached: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  outputText: 10,
  outputReasoning: 0,
}

/** Throws a violation where a promise is broken. Gives the number of results that vendors were sent. */
export async function play(plan: Plan): Promise<number> {
  const conversation = new Conversation(plan)
  for (const [i, turn] of plan.turns.entries()) {
    try {
      await conversation.turn(turn, i)
    } catch (error) {
      if (error instanceof Violation) throw new Violation(`turn ${i}: ${error.message}`)
      throw new Violation(`turn ${i}: ${error instanceof Error ? (error.stack ?? '') : String(error)}`)
    }
  }
  return conversation.results
}

/** What a vendor thought before it called. */
type SpokenThought = {
  readonly vendor: Vendor
  readonly request: Request
  readonly seal: string
  readonly mark: string
}

class Conversation {
  results = 0
  private readonly plan: Plan
  private readonly client: Client
  private readonly steps: Step[] = []
  private readonly kept: KeptTurn[] = []
  /** The calls of the last answer, as the client knows them. */
  private open: readonly IssuedCall[] = []
  private thought: SpokenThought | undefined
  private marks = 0

  constructor(plan: Plan) {
    this.plan = plan
    this.client = clients[plan.client](plan)
    if (plan.system !== undefined) this.system(plan.system)
  }

  async turn(turn: PlannedTurn, i: number): Promise<void> {
    this.speak(turn, i)
    const vendor = vendors[turn.vendor % vendors.length] ?? violated('no such vendor')
    const isStream = turn.mode === 'stream'
    const body = this.client.body(turn, { stream: isStream, previousId: this.kept.at(-1)?.id })
    const mode = isStream ? 'stream' : 'whole'
    const client = await readSent(this.plan.client, body, { mode, earlier: this.kept })
    const adapter = client.adapter(
      dialectsFor({ offer: offerOf(vendor), preset: presetOf(vendor) }, client),
      imageService,
    )
    if (adapter.obstacle) violated(`an obstacle before ${vendor.preset}: ${adapter.obstacle.message}`)
    const collected = turn.mode === 'collected' && adapter.collector !== undefined
    const sent = adapter.request({ ...destinationOf(vendor, client.outputTokensMax), collected })
    const request = this.told(vendor, adapter, sent)
    const texts = this.textsOf(turn, i, vendor)
    const answered = answer({ vendor, request, turn, plan: this.plan }, texts)
    const text = await carried({ adapter, vendor, answered, isStream, collected, i })
    this.hear(turn, answered, heard(this.plan.client, text, isStream))
    const ended = this.plan.isKept ? client.conversation?.ended() : undefined
    if (ended) this.kept.push(ended)
    const { seal } = texts
    const hasSeal = answered.said.thought !== '' || (request.dialect === 'gemini' && this.open.length > 0)
    this.thought =
      hasSeal && this.open.length > 0 ? { vendor, request, seal, mark: answered.said.thought.slice(0, 5) } : undefined
  }

  private mark(kind: string): string {
    return `[${kind}${this.marks++}]`
  }

  private system(words: string): void {
    const text = `${this.mark('s')} ${words}`
    this.client.system(text)
    this.steps.push({ kind: 'system', text })
  }

  /** What the client says before it asks: results first. */
  private speak({ order, user, pictures, system }: PlannedTurn, i: number): void {
    // Without ids the order is all there is.
    const isNamed = this.open.every(({ id }) => id !== '')
    const inOrder = isNamed ? order.flatMap((at) => this.open[at] ?? []) : this.open
    const given = inOrder.filter(({ call }) => call.result)
    if (given.length > 0) this.client.results(given)
    this.results += given.length
    if (given.length === 0 || user !== undefined) {
      const text = `${this.mark('u')} ${user ?? 'Go on.'}`
      const shown = Array.from({ length: pictures }, () => this.picture())
      this.client.user(text, shown)
      this.steps.push({ kind: 'user', text, pictures: shown })
    }
    if (system !== undefined && i > 0) this.system(system)
    this.open = []
  }

  private picture(): string {
    return Buffer.from(`picture ${this.marks++} of a conversation`).toString('base64')
  }

  /** The request as the vendor has it. */
  private told(vendor: Vendor, { dialect }: Adapter, sent: UpstreamRequest): Request {
    const { body } = sent
    const request = received(vendor, dialect, sent)
    const seals = sealsIn(body, vendor.maker)
    checkTold(this.steps, request.seen)
    this.checkThoughts(vendor, dialect, body)
    const { thought, plan } = this
    if (!thought || plan.forgets || thought.request.dialect !== dialect) return request
    const isSame = thought.vendor.preset === vendor.preset
    if (isSame && dialect === 'chat' && wantsThoughts(vendor)) {
      const isBack = request.seen.messages.some((message) => message.thought?.includes(thought.mark))
      if (!isBack) violated(`${vendor.preset} did not get back what it thought: ${thought.mark}`)
    } else if (dialect !== 'chat' && thought.vendor.maker === vendor.maker && !seals.includes(thought.seal)) {
      violated(`${vendor.preset} did not get back its '${thought.seal}'`)
    }
    return request
  }

  /**
   * Words of a thought, which its client was shown, go to those that made it or want every thought; within a dialect
   * also to whoever its client sends them.
   */
  private checkThoughts(vendor: Vendor, dialect: Dialect, body: string): void {
    if (dialect === this.plan.client || wantsThoughts(vendor)) return
    for (const [mark, turn = ''] of body.matchAll(/\[t(\d+)\]/g)) {
      const thinker = vendors[this.plan.turns[Number(turn)]?.vendor ?? -1]
      if (thinker?.maker !== vendor.maker)
        violated(`${vendor.preset} was told the thought ${mark} of ${thinker?.preset}`)
    }
  }

  private textsOf({ answer: { thought, text } }: PlannedTurn, i: number, { maker }: Vendor) {
    const said = text === '' ? '' : `${this.mark('a')} ${text}`
    return {
      thought: thought === '' ? '' : `[t${i}] ${thought}`,
      text: this.plan.isStructured && said !== '' ? JSON.stringify({ said, n: 1 }) : said,
      seal: sealFor(i, maker),
    }
  }

  /** What the client got must be what was said, in its own names. */
  private hear({ answer: planned }: PlannedTurn, { said }: VendorReply, got: ClientView): void {
    const isByTool = said.calls.length === 1 && said.calls[0]?.id === 'toolu_answer'
    const text = isByTool ? (said.calls[0]?.args ?? '') : said.text
    const calls = isByTool ? [] : said.calls
    if (got.text !== text) violated(`the client got the text ${got.text} instead of ${text}`)
    if (got.thought !== '' && got.thought !== said.thought) violated(`the client got the thought ${got.thought}`)
    if (got.calls.length !== calls.length) violated(`the client got ${got.calls.length} calls of ${calls.length}`)
    const ids = got.calls.map(({ id }) => id).filter((id) => id !== '')
    if (new Set(ids).size !== ids.length) violated(`the client got ids that are the same: ${ids.join()}`)
    // Without ids nobody could tell which of two calls was answered.
    const hasResults = ids.length === calls.length || planned.calls.every(({ result }) => result)
    const made = calls.map((_, at): TrueCall => {
      const call = planned.calls[at] ?? violated('no such call')
      const tool = this.plan.tools[call.tool] ?? violated('no such tool')
      const result = hasResults ? call.result : undefined
      return { tool: call.tool, ...tool, args: call.args, result: result && this.resultOf(result) }
    })
    this.open = made.map((call, at): IssuedCall => {
      const { id, name, args, kind } = got.calls[at] ?? violated('no such call')
      const asExpected = kind === 'custom' ? args : compact(args)
      const expected = kind === 'custom' ? call.args : compact(call.args)
      if (name !== call.name || kind !== call.kind || asExpected !== expected) {
        violated(`the client got the ${kind} ${name} ${args} instead of the ${call.kind} ${call.name} ${call.args}`)
      }
      return { id, name, call }
    })
    this.client.heard(got)
    this.steps.push({ kind: 'assistant', text, calls: made })
  }

  private resultOf({ words, next, picture, isError, structured }: PlannedResult): TrueResult {
    const { client } = this.plan
    const said = `${this.mark('r')} ${words}`
    const isObject = structured && client === 'gemini'
    return {
      text: isObject ? `{"r":${JSON.stringify(said)},"next":${next}}` : `${said} {"next":${next}}`,
      pictures: picture && client !== 'chat' ? [this.picture()] : [],
      isError,
      structured: isObject,
    }
  }
}

const wantsThoughts = ({ quirks }: Vendor): boolean => quirks.rules?.some(({ takes }) => takes === 'thoughts') ?? false
const offerOf = ({ model }: Vendor) => ({ upstreamModel: model })
const presetOf = ({ preset: id, dialects }: Vendor) => ({ id, dialects })

type Carrying = {
  readonly adapter: Adapter
  readonly vendor: Vendor
  readonly answered: VendorReply
  readonly isStream: boolean
  readonly collected: boolean
  readonly i: number
}

/** The answer as the gateway gives it to the client. */
async function carried({ adapter, vendor, answered, isStream, collected, i }: Carrying): Promise<string> {
  const facts = {
    requestId: `req_${String(i).padStart(26, '0')}`,
    createdAtMs: 1_700_000_000_000,
    publicModel: 'public',
  }
  const { quirks } = vendor
  if (isStream) {
    const stream = adapter.openStream(facts, quirks)
    let text = ''
    for (const event of eventsIn(answered.stream)) {
      const read = stream.read(event)
      if (read.kind === 'failed') violated(`the stream failed: ${JSON.stringify(read.failure)}`)
      if (read.kind !== 'chunk') break
      text += read.text
    }
    if (!stream.finished) violated('the stream is not taken for a whole one')
    return text + stream.end(stream.usage ?? USAGE)
  }
  const read = await adapter.readReply(collected ? joined(adapter, answered.stream) : answered.whole, quirks)
  if (read.kind === 'failed') return violated(`the answer failed: ${JSON.stringify(read.failure)}`)
  return read.reply.write(facts, read.reply.usage ?? USAGE)
}

function joined(adapter: Adapter, stream: VendorReply['stream']): string {
  const collector = adapter.collector?.() ?? violated('no collector')
  for (const event of eventsIn(stream)) if (event.data !== '[DONE]') collector.add(event)
  return collector.text()
}

function eventsIn(stream: VendorReply['stream']): SseEvent[] {
  if (typeof stream !== 'string') return new AwsEventDecoder(1_000_000).push(stream)
  const decoder = new SseDecoder(1_000_000)
  return [...decoder.push(new TextEncoder().encode(stream)), ...decoder.end()]
}
