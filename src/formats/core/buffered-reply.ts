/** Whole replies that pass as they came, with single corrections. */
import { nextTurn } from '../../lib/runtime/end-of-tick.ts'
import { IdleWorker } from '../../lib/runtime/idle-worker.ts'
import { Members } from '../../lib/json/json-members.ts'
import { inOwnTurn } from '../../lib/primitives/long-text.ts'
import { parsePlain } from '../../lib/json/plain-json.ts'
import { answerLimits } from '../../lib/json/json-scan.ts'
import { editJson, reviseJson, type Edit } from '../../lib/json/json-edit.ts'
import { parseAnswer, weigh } from './fields.ts'
import type { ReadReply } from './contract.ts'
import type { ReplyWithoutLogprobs } from './without-logprobs.ts'

const worker = new IdleWorker<string, ReplyWithoutLogprobs | undefined>(
  () => new Worker(new URL('./without-logprobs-worker.ts', import.meta.url).href),
)

type FailedReply = Extract<ReadReply, { readonly kind: 'failed' }>
type Whole = { readonly text: string; readonly members: Members }

/** A reply to read and to pass on. */
export class BufferedReply {
  /** The text to read: the whole reply, or the reply without its log probabilities. */
  readonly text: string
  /** The reply as it came, if `text` is only a part of it. */
  private readonly whole: Whole | undefined

  constructor(text: string, whole?: Whole) {
    this.text = text
    this.whole = whole
  }

  /** Whether log probabilities are left out of `text`. */
  get isPart(): boolean {
    return this.whole !== undefined
  }

  /** Throws for text that is not JSON. */
  parsed(): unknown {
    return this.whole ? parseAnswer(this.text) : parsePlain(this.text)
  }

  /** The whole reply with these edits. */
  revised(edits: readonly Edit[]): string {
    const { text, members } = this.whole ?? { text: this.text }
    if (edits.length === 0) return text
    return members ? editJson(text, members, edits) : reviseJson(text, edits, answerLimits)
  }
}

/** Reads a reply. If log probabilities make it large, it is read without them, on another thread. */
export function readReceived<T>(
  text: string,
  read: (received: BufferedReply) => T,
): T | FailedReply | Promise<T | FailedReply> {
  const weight = weigh(text)
  if (weight === 'broken') return NOT_JSON
  if (weight === 'large') return readLarge(text, read)
  return inOwnTurn(text, () => read(new BufferedReply(text)))
}

async function readLarge<T>(text: string, read: (received: BufferedReply) => T): Promise<T | FailedReply> {
  // The text is copied for the other thread in a tick of its own, because this tick has already scanned it.
  await nextTurn()
  const light = await worker.ask(text).catch(() => undefined)
  if (!light) return NOT_JSON
  return read(new BufferedReply(light.text, { text, members: new Members(text, light.places) }))
}

const message = 'the reply is not JSON, or is too large'
const NOT_JSON: FailedReply = { kind: 'failed', failure: { kind: 'garbage', status: 200, message } }
