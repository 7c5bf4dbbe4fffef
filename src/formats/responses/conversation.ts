/** One request's turn in a conversation: the earlier turns, this input, and how the answer ended. */
import type { Failure } from '../../domain/failure.ts'
import type { Delta, Reply, Turn } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import { parseExact } from '../../lib/json/exact-json.ts'
import { writeFailure } from '../core/openai-failure.ts'
import { asFields, asText, parseFields, type Fields } from '../core/fields.ts'
import type {
  AnswerFacts,
  ClientSide,
  Conversation,
  Follower,
  KeptTurn,
  PastTurn,
  StreamEncoder,
} from '../core/contract.ts'
import { CompactionWriter, isCompaction, summaryOf } from './compaction.ts'
import { ResponseEvents, type ErrorWords, type EventOptions } from './events.ts'
import { BadInput, outputItemId, responseOfItem, withIds, type Item } from './items.ts'
import { mediaOf, type ItemMedia } from './item-media.ts'
import { itemsOf } from './output.ts'
import type { ResponsesRequest } from './request.ts'
import {
  cancelledWith,
  endedWith,
  failedWith,
  headOf,
  keptResponse,
  responseOf,
  RUNNING,
  shownBy,
  shownItem,
  type ShowOptions,
  type ResponseStatus,
} from './response.ts'
import { CallNames } from './call-names.ts'
import { deltasOf, traceOf } from './trace.ts'
import { responsesTurn, type ResponsesTurn } from './turn.ts'
import { bytesOfTurn, itemsIn, itemsOfTurn, resolved, refuseLooseOutputs } from './earlier-items.ts'

/** Request and response of one exchange share an id, except for its prefix. */
const responseIdOf = ({ requestId }: AnswerFacts): string => requestId.replace(/^req_/, 'resp_')

/** Who writes the summary of a compaction: the gateway's model, or the vendor in its own form. */
export type Compaction = 'ours' | 'theirs'

const compactionId = (answer: AnswerFacts): string => outputItemId(responseIdOf(answer), 'compaction', 0)

/** A summary as the item that a client sends back instead of the turns it sums up. */
function summarised({ choices: [choice], usage }: Reply, answer: AnswerFacts): Reply {
  const finish = choice?.finish ?? 'stop'
  const writer = new CompactionWriter(compactionId(answer))
  const text = summaryOf(choice?.parts ?? [])
  const deltas = writer.write([
    { kind: 'text', choice: 0, text },
    { kind: 'finish', choice: 0, reason: finish },
  ])
  return { choices: [{ parts: [], finish }], usage, deltas }
}

const NO_WORDS: ErrorWords = { type: 'server_error', code: 'server_error', param: null }

/** An answer that is being made, with the deltas so far. */
type Draft = { readonly head: Fields; readonly deltas: Delta[]; end: End | undefined }
type End = { readonly standing: ResponseStatus; readonly words: ErrorWords; readonly output: readonly Item[] }

export class ResponsesConversation implements Conversation {
  readonly mode: Conversation['mode']
  readonly previousId: string | undefined
  readonly referredIds: readonly string[]
  /** The request as a turn, once the earlier turns are recalled. */
  read: ResponsesTurn | undefined
  /** All items, with this request's input at the end. Empty until the earlier turns are recalled. */
  said: readonly Fields[] = []
  /** The size of the earlier turns. */
  earlierBytes = 0
  media: ItemMedia
  items = 0
  private readonly request: ResponsesRequest
  private readonly shown: ShowOptions
  private input: readonly Fields[]
  private draft: Draft | undefined
  private isCancelled = false
  /** The size of the items that the request refers to. They are stored with it as if they had been sent again. */
  private referredBytes = 0
  private isForgotten: boolean

  constructor(request: ResponsesRequest) {
    const { body, input } = request
    this.request = request
    this.input = input
    this.media = mediaOf(input)
    this.mode = !body.background ? 'attached' : body.stream ? 'followed' : 'polled'
    this.previousId = body.previous_response_id ?? undefined
    this.shown = shownBy(body.include)
    this.isForgotten = body.store === false
    const referred = input.flatMap(({ type, id }) =>
      type === 'item_reference' ? responseOfItem(asText(id)) : undefined,
    )
    this.referredIds = [...new Set(referred)].filter((id) => id !== undefined)
  }

  recall(earlier: readonly PastTurn[], referred: readonly PastTurn[]): Failure | undefined {
    const running = earlier.at(-1)?.state === 'running'
    if (running) {
      const message = 'The previous response is still in progress; it can be continued when it has ended.'
      return { kind: 'invalid_value', message, param: 'previous_response_id' }
    }
    const before = earlier.flatMap(itemsOfTurn)
    try {
      const found = resolved(this.input, [...before, ...referred.flatMap(itemsOfTurn)])
      this.input = found.items
      this.referredBytes = found.bytes
      const all = [...before, ...this.input]
      refuseLooseOutputs(all, before.length)
      this.media = mediaOf(all)
      this.items = all.length
      this.earlierBytes = earlier.reduce((sum, turn) => sum + bytesOfTurn(turn), 0) + this.referredBytes
      this.said = all
      this.read = responsesTurn(this.request.body, all)
      return undefined
    } catch (error) {
      if (error instanceof BadInput) return error.failure
      throw error
    }
  }

  get turn(): Turn | undefined {
    return this.read?.turn
  }

  private get names(): CallNames {
    return this.read?.names ?? new CallNames()
  }

  cancel(what: 'stopped' | 'forgotten'): void {
    this.isCancelled = true
    // A deleted turn stays deleted, even if it is cancelled later.
    this.isForgotten ||= what === 'forgotten'
  }

  get keptBytes(): number | undefined {
    return this.isForgotten ? undefined : this.request.bytes + this.referredBytes
  }

  begun(answer: AnswerFacts): KeptTurn {
    return this.kept(this.headFor(answer), RUNNING, [])
  }

  ended(): KeptTurn | undefined {
    const { draft } = this
    if (!draft?.end || this.isForgotten) return undefined
    const { standing, output, words } = draft.end
    const trace = this.mode !== 'attached' ? traceOf(draft.deltas, words) : undefined
    return { ...this.kept(draft.head, standing, output), state: 'ended', trace }
  }

  show(turn: KeptTurn): string {
    return JSON.stringify(keptResponse(turn, this.shown))
  }

  follow(answer: AnswerFacts, after: number): Follower {
    const events = new ResponseEvents(this.headFor(answer), this.eventsFrom(after))
    let at = 0
    return {
      read: (upTo) => {
        const { deltas = [], end } = this.draft ?? {}
        const fresh = deltas.slice(at)
        at = deltas.length
        const text = events.add(fresh)
        return upTo === 'end' && end ? text + events.end(end.standing, end.words) : text
      },
    }
  }

  /** The client side that writes answers. */
  side(compaction: Compaction): ClientSide {
    const summarises = this.read?.compacts === true && compaction === 'ours'
    return {
      dialect: 'responses',
      reply: (reply, answer, usage) => this.whole(summarises ? summarised(reply, answer) : reply, answer, usage),
      encoder: (answer) => this.encoder(answer, summarises),
    }
  }

  private eventsFrom(after: number): EventOptions {
    return { ...this.shown, after, names: this.names }
  }

  /** The stream of an answer that failed before it began. */
  failed(failure: Failure, answer: AnswerFacts): string {
    return this.encoder(answer, false).fail(failure)
  }

  private whole(reply: Reply, answer: AnswerFacts, usage: Usage): string {
    const head = this.headFor(answer)
    const [choice] = reply.choices
    const output = this.outputOf(reply, head)
    const standing = endedWith(choice?.finish ?? 'stop', usage, Date.now())
    this.draft = { head, deltas: [], end: { standing, words: NO_WORDS, output } }
    if (this.request.isCompaction) return this.inShort(head, output, standing)
    const visible = output.map((item) => shownItem(item, this.shown))
    return JSON.stringify(responseOf(head, standing, visible))
  }

  /** What the client continues with: the user's messages, and everything else as a summary. */
  private inShort({ id, created_at }: Fields, output: readonly Item[], { usage }: ResponseStatus): string {
    const said = this.said.filter(({ type, role }) => type === 'message' && role === 'user')
    const items = [...withIds(said, asText(id)), ...output.filter(({ type }) => isCompaction(type))]
    return JSON.stringify({ id, object: 'response.compaction', created_at, output: items, usage })
  }

  private outputOf({ choices: [choice], deltas }: Reply, head: Fields): Item[] {
    if (!deltas) return itemsOf(choice, asText(head['id']), this.names)
    // Nobody reads these events. Only their output is used, which is the same as in a stream.
    const events = new ResponseEvents(head, this.eventsFrom(Infinity))
    events.add(deltas)
    return events.output()
  }

  private encoder(answer: AnswerFacts, summarises: boolean): StreamEncoder {
    const draft: Draft = { head: this.headFor(answer), deltas: [], end: undefined }
    this.draft = draft
    const events = new ResponseEvents(draft.head, this.eventsFrom(-1))
    const writer = summarises ? new CompactionWriter(compactionId(answer)) : undefined
    const end = (standing: ResponseStatus, words: ErrorWords): string => {
      const text = events.end(standing, words)
      draft.end = { standing, words, output: events.output() }
      return text
    }
    return {
      encode: (told) => {
        const deltas = writer ? writer.write(told) : told
        if (this.mode !== 'attached') draft.deltas.push(...deltas)
        return events.add(deltas)
      },
      end: (usage) => end(endedWith(events.finish ?? 'stop', usage, Date.now()), NO_WORDS),
      fail: (failure, billed) =>
        this.isCancelled ? end(cancelledWith(billed), NO_WORDS) : end(failedWith(failure, billed), wordsOf(failure)),
    }
  }

  private headFor(answer: AnswerFacts): Fields {
    const { createdAtMs, publicModel: model } = answer
    return headOf(this.request.body, { id: responseIdOf(answer), createdAtMs, model })
  }

  private kept(head: Fields, standing: ResponseStatus, output: readonly Item[]): KeptTurn {
    const id = asText(head['id'])
    return {
      id,
      parentId: this.previousId,
      state: 'running',
      head: JSON.stringify(head),
      standing: JSON.stringify(standing),
      input: JSON.stringify(withIds(this.input, id)),
      output: JSON.stringify(output),
      trace: undefined,
    }
  }
}

/** The type and code of a failure, as in its envelope. */
function wordsOf(failure: Failure): ErrorWords {
  const { type, code, param } = asFields(parseFields(writeFailure(failure).body)?.['error'])
  return { type: asText(type), code: asText(code), param: failure.param ?? (param === null ? null : asText(param)) }
}

/** The events of a background turn that has ended, as they were streamed. Undefined for any other turn. */
export function followKept(
  turn: Omit<KeptTurn, 'input'>,
  { after, include }: { after: number; include: unknown },
): string | undefined {
  const head = asFields(parseExact(turn.head))
  if (head['background'] !== true) return undefined
  const names = new CallNames()
  const events = new ResponseEvents(head, { ...shownBy(include), after, names })
  // A turn that died with its process has no trace.
  const { deltas, words } =
    turn.trace === undefined ? NO_TRACE : deltasOf(turn.trace, { output: itemsIn(turn.output), names })
  return events.add(deltas) + events.end(JSON.parse(turn.standing) as ResponseStatus, words)
}

const NO_TRACE = { deltas: [], words: NO_WORDS }

/** The status of a background turn whose process died. */
export const DIED: string = JSON.stringify(
  failedWith({
    kind: 'internal',
    message: 'The gateway stopped while this response was being made. Nothing was charged.',
  }),
)

/** A stored turn as a client sees it later. */
export const showKept = (turn: Omit<KeptTurn, 'input'>, include: unknown): Fields =>
  keptResponse(turn, shownBy(include))

/** An input item of a turn as the client sees it, from JSON text to JSON text. Few items have to be parsed. */
export const inputItem = (item: string, include: unknown): string =>
  item.includes('"encrypted_content"') ? JSON.stringify(shownItem(asFields(parseExact(item)), shownBy(include))) : item
