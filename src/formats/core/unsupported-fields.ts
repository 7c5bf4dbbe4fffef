/** What a conversation holds that a dialect cannot be told. */
import type { Dialect, InputPart, Message, OutputPart } from '../../domain/turn.ts'

/** What a dialect has a place for, beside its own sealed thoughts. */
export type Takes = {
  readonly dialect: Dialect
  readonly toolErrors?: 'said'
  readonly detail?: 'said'
  readonly thoughts?: 'said' | 'lost'
}

/** The names under which clients know what is left out of messages: in answers to them it is listed. */
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
      // No dialect but chat's extensions takes a thought that nobody has sealed.
      return dialect !== 'chat' && part.sealed?.origin === dialect ? undefined : 'reasoning'
    case 'tool_call':
      return part.sealed === undefined || part.sealed.origin === dialect ? undefined : 'reasoning'
    default:
      return undefined
  }
}
