/** Calls and their results: every vendor demands a result for each call, and most of them right behind it. */
import type { Message, Turn } from '../domain/turn.ts'

type Result = Extract<Message, { role: 'tool' }>

/** For a call that its user interrupted. */
const NO_RESULT = 'The call was interrupted: it has no result.'

const callsOf = (message: Message): string[] =>
  message.role === 'assistant' ? message.parts.flatMap((part) => (part.kind === 'tool_call' ? [part.id] : [])) : []

const isInOrder = (messages: readonly Message[]): boolean =>
  messages.every((message, at) =>
    callsOf(message).every((id, i) => {
      const next = messages[at + 1 + i]
      return next?.role === 'tool' && next.callId === id
    }),
  )

/** The turn, whose calls have ids that differ, with a result for each of them, behind it and in their order. */
export function withAllResults(turn: Turn): Turn {
  const { messages } = turn
  if (isInOrder(messages)) return turn
  const results = new Map<string, Result>()
  for (const message of messages) if (message.role === 'tool') results.set(message.callId, message)
  const calls = new Set(messages.flatMap(callsOf))
  const resultOf = (callId: string): Result =>
    results.get(callId) ?? { role: 'tool', callId, parts: [{ kind: 'text', text: NO_RESULT }] }
  return {
    ...turn,
    messages: messages.flatMap((message) => {
      if (message.role === 'tool' && calls.has(message.callId)) return []
      return [message, ...callsOf(message).map(resultOf)]
    }),
  }
}
