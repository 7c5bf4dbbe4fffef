/**
 * A conversation in short. OpenAI's own models write it as something only they can read; any other model writes a
 * summary, which travels the same way: in an item that the client sends back in place of what was said before.
 */
import type { Delta, Message, OutputPart } from '../../domain/turn.ts'
import { textIn, type Fields } from '../core/fields.ts'

const STAMP = 'tgc1_'

const types = new Set<unknown>(['compaction', 'compaction_summary', 'context_compaction'])

export const isCompaction = (type: unknown): boolean => types.has(type)

/** What a model is told that is to write the summary. */
export const COMPACTION_ORDER =
  'Write a summary of this conversation for the model that will go on with it and sees nothing else of it: what was ' +
  'asked for, what was decided and done, what was found out (names, paths, values), and what is left to do. Answer ' +
  'with the summary alone; call no tools.'

const sealSummary = (text: string): string => STAMP + Buffer.from(text).toString('base64url')

/** The summary in an item that we made; undefined for a vendor's own, which nobody else can read. */
function summaryIn({ encrypted_content: sealed }: Fields): string | undefined {
  const text = textIn(sealed)
  return text?.startsWith(STAMP) ? Buffer.from(text.slice(STAMP.length), 'base64url').toString() : undefined
}

export function compactionIn(item: Fields): Message | undefined {
  const summary = summaryIn(item)
  if (summary === undefined) return undefined
  return { role: 'user', parts: [{ kind: 'text', text: `What was said before, in short:\n\n${summary}` }] }
}

/** The words of an answer that are the summary. */
export const summaryOf = (parts: readonly OutputPart[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')

/** Makes the deltas of a summary those of an answer that is one item: it is nothing that a client would show. */
export class CompactionWriter {
  private readonly id: string
  private text = ''

  constructor(id: string) {
    this.id = id
  }

  write(deltas: readonly Delta[]): Delta[] {
    return deltas.flatMap((delta): Delta[] => {
      if (delta.kind === 'text') this.text += delta.text
      if (delta.kind !== 'finish') return []
      // Without words there is nothing to go on from: a client keeps what it has when no such item comes.
      if (this.text.trim() === '') return [delta]
      const fields = { id: this.id, type: 'compaction', encrypted_content: sealSummary(this.text) }
      return [{ kind: 'own', choice: delta.choice, origin: 'responses', what: 'item', fields }, delta]
    })
  }
}
