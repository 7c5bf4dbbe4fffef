/** The parts of a conversation that a dialect does not support. */
import type { Dialect, InputPart, Message, OutputPart } from '../../domain/turn.ts'

/** What a dialect supports besides its own sealed reasoning. */
export type Takes = {
  readonly dialect: Dialect
  readonly toolErrors?: 'said'
  readonly detail?: 'said'
  readonly thoughts?: 'said' | 'lost'
}

/** The parts of messages that are left out, by the names that clients know. The answer's headers list them. */
export function lostOf(messages: readonly Message[], takes: Takes): string[] {
  const lost = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool' && message.isError === true && !takes.toolErrors) lost.add('is_error')
    for (const part of message.parts) {
      const name = lostPart(part, takes)
      if (name !== undefined) lost.add(name)
    }
  }
  return [...lost]
}

function lostPart(part: InputPart | OutputPart, { dialect, detail, thoughts }: Takes): string | undefined {
  switch (part.kind) {
    case 'text':
      return part.cache === undefined ? undefined : 'cache_control'
    case 'image':
      return detail || part.detail === undefined || part.detail === 'auto' ? undefined : 'detail'
    case 'reasoning':
      if (thoughts === 'said' && (part.text !== '' || part.sealed?.origin === 'chat')) return undefined
      // Only chat's extensions take reasoning that is not sealed.
      return dialect !== 'chat' && part.sealed?.origin === dialect ? undefined : 'reasoning'
    case 'tool_call':
      return part.sealed === undefined || part.sealed.origin === dialect ? undefined : 'reasoning'
    default:
      return undefined
  }
}
