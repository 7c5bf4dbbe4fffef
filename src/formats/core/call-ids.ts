/** Ids of tool calls. One vendor may refuse the ids of another, and some vendors repeat an id in every turn. */
import { createHash } from 'node:crypto'
import type { Dialect, Message, OutputPart, Turn } from '../../domain/turn.ts'

/**
 * The most characters of an id. OpenAI refuses more than 40 in the chat format and more than 64 in the responses format
 * (orchidfiles/ungate#26). Anthropic refuses all but letters, digits, `_` and `-` (musistudio/claude-code-router#1808).
 * Amazon takes 64 characters (ToolUseId in the service model of bedrock-runtime, boto/botocore, 2026-08).
 */
const most: Readonly<Record<Dialect, number>> = { chat: 40, responses: 64, messages: 64, gemini: 64, converse: 64 }
const PLAIN = /^[\w-]+$/

const isLawful = (id: string, dialect: Dialect): boolean => id.length <= most[dialect] && PLAIN.test(id)

const lawful = (id: string, dialect: Dialect): string =>
  isLawful(id, dialect) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`

/** Assigns ids in the order of a conversation. Ids are lawful and unique. The same conversation gets the same ids. */
export class CallIds {
  private readonly dialect: Dialect
  private readonly used = new Set<string>()
  /**
   * `last` has the id that was last assigned to an original id. `open` has those calls of one message that have no
   * result yet.
   */
  private readonly last = new Map<string, string>()
  private open = new Map<string, string[]>()
  /** The number that an id was last given. A conversation may use one id in thousands of calls. */
  private readonly numbers = new Map<string, number>()

  constructor(dialect: Dialect) {
    this.dialect = dialect
  }

  /** Begins a message of the model. Results that follow belong to its calls. */
  begin(): void {
    this.open = new Map()
  }

  ofCall(id: string): string {
    const first = lawful(id, this.dialect)
    let number = this.numbers.get(first) ?? 1
    let given = this.numbered(first, number)
    while (this.used.has(given)) given = this.numbered(first, ++number)
    this.numbers.set(first, number)
    this.used.add(given)
    this.last.set(id, given)
    const open = this.open.get(id)
    if (open) open.push(given)
    else this.open.set(id, [given])
    return given
  }

  private numbered(first: string, number: number): string {
    return number === 1 ? first : lawful(`${first}_${number}`, this.dialect)
  }

  ofResult(id: string): string {
    return this.open.get(id)?.shift() ?? this.last.get(id) ?? lawful(id, this.dialect)
  }
}

/**
 * The turn with ids that its upstream accepts. Results stand in the order of their calls, because an upstream without
 * ids matches them by order alone.
 */
export function withCallIds(turn: Turn, dialect: Dialect): Turn {
  const ids = new CallIds(dialect)
  const messages: Message[] = []
  let results: Extract<Message, { role: 'tool' }>[] = []
  let calls: readonly string[] = []
  const close = (): void => {
    const ranks = new Map(calls.map((id, i) => [id, i]))
    const rank = ({ callId }: (typeof results)[number]): number => ranks.get(callId) ?? calls.length
    messages.push(...results.toSorted((a, b) => rank(a) - rank(b)))
    results = []
  }
  for (const message of turn.messages) {
    if (message.role === 'tool') {
      results.push({ ...message, callId: ids.ofResult(message.callId) })
      continue
    }
    close()
    if (message.role !== 'assistant') {
      messages.push(message)
      continue
    }
    ids.begin()
    const parts = message.parts.map((part): OutputPart =>
      part.kind === 'tool_call' ? { ...part, id: ids.ofCall(part.id) } : part,
    )
    calls = parts.flatMap((part) => (part.kind === 'tool_call' ? [part.id] : []))
    messages.push({ ...message, parts })
  }
  close()
  return { ...turn, messages }
}
