/**
 * Tool calls and their results. Every vendor demands a result for each call, and most demand it directly after the
 * call.
 */
import type { Message, Turn } from '../../domain/turn.ts'

/** The result of a call that its user interrupted. */
export const NO_RESULT = 'The call was interrupted: it has no result.'

/** How to read messages of a dialect. */
type MessageAccess<M> = {
  /** The ids of the calls in a message. */
  readonly callsOf: (message: M) => readonly string[]
  /** The id of the call that a message answers. */
  readonly answers: (message: M) => string | undefined
  readonly noResult: (callId: string) => M
}

/** The messages with a result for each call, placed after the call in the order of the calls. Ids may repeat later. */
export function withResults<M>(messages: readonly M[], { callsOf, answers, noResult }: MessageAccess<M>): M[] {
  const places = { calls: new Map<string, number[]>(), results: new Map<string, number[]>() }
  const add = (map: Map<string, number[]>, id: string, at: number): void => {
    const list = map.get(id)
    if (list) list.push(at)
    else map.set(id, [at])
  }
  for (const [at, message] of messages.entries()) {
    for (const id of callsOf(message)) add(places.calls, id, at)
    const id = answers(message)
    if (id !== undefined) add(places.results, id, at)
  }
  const moved = new Set<number>()
  const resultOf = (id: string, at: number): M => {
    const calls = places.calls.get(id) ?? []
    while (calls[0] !== undefined && calls[0] <= at) calls.shift()
    const results = places.results.get(id) ?? []
    while (results[0] !== undefined && results[0] < at) results.shift()
    const [found, before = Infinity] = [results[0], calls[0]]
    const result = found !== undefined && found < before ? messages[found] : undefined
    if (found === undefined || result === undefined) return noResult(id)
    results.shift()
    moved.add(found)
    return result
  }
  const behind = messages.map((message, at) => callsOf(message).map((id) => resultOf(id, at)))
  return messages.flatMap((message, at) => (moved.has(at) ? [] : [message, ...(behind[at] ?? [])]))
}

const callsOf = (message: Message): string[] =>
  message.role === 'assistant' ? message.parts.flatMap((part) => (part.kind === 'tool_call' ? [part.id] : [])) : []

const isInOrder = (messages: readonly Message[]): boolean =>
  messages.every((message, at) =>
    callsOf(message).every((id, i) => {
      const next = messages[at + 1 + i]
      return next?.role === 'tool' && next.callId === id
    }),
  )

/** The turn with a result for each call, placed after the call in the order of the calls. Call ids must be unique. */
export function withAllResults(turn: Turn): Turn {
  const { messages } = turn
  if (isInOrder(messages)) return turn
  const answered = withResults<Message>(messages, {
    callsOf,
    answers: (message) => (message.role === 'tool' ? message.callId : undefined),
    noResult: (callId) => ({ role: 'tool', callId, parts: [{ kind: 'text', text: NO_RESULT }] }),
  })
  return { ...turn, messages: answered }
}
