/**
 * Reasoning that a vendor of this format wants back. It is text. A client that may not see it gets it sealed and
 * returns it with the rest of the turn.
 */
import type { Delta, OutputPart, Reply, SealedData } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import type { SseEvent } from '../../lib/http/sse.ts'
import type { DecodedEvent, StreamDecoder, WriterQuirks } from '../core/contract.ts'

export const takesThoughtsBack = ({ rules = [] }: Pick<WriterQuirks, 'rules'>): boolean =>
  rules.some(({ takes }) => takes === 'thoughts')

const sealedOf = (text: string): SealedData => ({ origin: 'chat', data: Buffer.from(text).toString('base64') })

type Reasoning = Extract<OutputPart, { kind: 'reasoning' }>

/** The text of the reasoning, sealed or not. A vendor that wants reasoning back refuses a turn without it. */
const thoughtOf = ({ text, sealed }: Reasoning): string =>
  sealed?.origin === 'chat' && sealed.data !== '' ? Buffer.from(sealed.data, 'base64').toString() : text

/** The reasoning in a message. Sealed reasoning may also be there in plain text. */
export function thoughtsIn(parts: readonly OutputPart[]): string {
  const thoughts = parts.filter((part) => part.kind === 'reasoning')
  const sealed = thoughts.filter((part) => part.sealed?.origin === 'chat')
  return (sealed.length > 0 ? sealed : thoughts).map(thoughtOf).join('\n')
}

/** Only reasoning before a call is wanted back. An answer without a call stays as short as it was. */
export const withSeals = (reply: Reply): Reply => ({
  ...reply,
  choices: reply.choices.map((choice) =>
    choice.parts.some(({ kind }) => kind === 'tool_call') ? { ...choice, parts: choice.parts.map(withSeal) } : choice,
  ),
})

const withSeal = (part: OutputPart): OutputPart =>
  part.kind === 'reasoning' && !part.sealed ? { ...part, sealed: sealedOf(part.text) } : part

/** Seals the reasoning of a stream before the first call that follows it. */
export class SealingDecoder implements StreamDecoder {
  private readonly decoder: StreamDecoder
  /** By choice: the reasoning since the last call. */
  private readonly thoughts = new Map<number, string[]>()

  constructor(decoder: StreamDecoder) {
    this.decoder = decoder
  }

  get usage(): Usage | undefined {
    return this.decoder.usage
  }

  get finished(): boolean {
    return this.decoder.finished
  }

  decode(event: SseEvent): DecodedEvent {
    const decoded = this.decoder.decode(event)
    if (decoded.kind !== 'deltas' || decoded.deltas.length === 0) return decoded
    return { kind: 'deltas', deltas: decoded.deltas.flatMap((delta) => this.sealed(delta)) }
  }

  private sealed(delta: Delta): Delta[] {
    const { choice } = delta
    const thought = this.thoughts.get(choice)
    if (delta.kind === 'reasoning') {
      if (thought) thought.push(delta.text)
      else this.thoughts.set(choice, [delta.text])
      return [delta]
    }
    if (!thought || delta.kind !== 'call') return [delta]
    this.thoughts.delete(choice)
    return [{ kind: 'sealed', choice, sealed: sealedOf(thought.join('')) }, delta]
  }
}
