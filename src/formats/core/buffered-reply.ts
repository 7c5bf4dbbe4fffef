/** Whole replies that are passed on as they came, but for what has to be put right in them. */
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

/** A reply to be read, and passed on. */
export class BufferedReply {
  /** What is to be read: all of it, or all but the probabilities. */
  readonly text: string
  /** The reply as it came, where that is more. */
  private readonly whole: Whole | undefined

  constructor(text: string, whole?: Whole) {
    this.text = text
    this.whole = whole
  }

  /** Whether probabilities were left out of what is to be read. */
  get isPart(): boolean {
    return this.whole !== undefined
  }

  /** Throws for what is no JSON. */
  parsed(): unknown {
    return this.whole ? parseAnswer(this.text) : parsePlain(this.text)
  }

  /** The whole of it. */
  revised(edits: readonly Edit[]): string {
    const { text, members } = this.whole ?? { text: this.text }
    if (edits.length === 0) return text
    return members ? editJson(text, members, edits) : reviseJson(text, edits, answerLimits)
  }
}

/** Has a reply read: one that is large for the probabilities in it without these, a little later. */
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
  // It is copied for the other thread, after it was looked through in this turn.
  await nextTurn()
  const light = await worker.ask(text).catch(() => undefined)
  if (!light) return NOT_JSON
  return read(new BufferedReply(light.text, { text, members: new Members(text, light.places) }))
}

const message = 'the reply is not JSON, or out of all proportion'
const NOT_JSON: FailedReply = { kind: 'failed', failure: { kind: 'garbage', status: 200, message } }
