/**
 * Compaction of a conversation. OpenAI's own models write a summary that only they can read. Any other model writes a
 * summary in plain text. Both travel in an item that the client sends back in place of the earlier turns.
 */
import type { Delta, Message, OutputPart } from '../../domain/turn.ts'
import { textIn, type Fields } from '../core/fields.ts'

const STAMP = 'tgc1_'

const types = new Set<unknown>(['compaction', 'compaction_summary', 'context_compaction'])

export const isCompaction = (type: unknown): boolean => types.has(type)

/** The instruction for the model that writes the summary. */
export const COMPACTION_ORDER =
  'Write a summary of this conversation for the model that will go on with it and sees nothing else of it: what was ' +
  'asked for, what was decided and done, what was found out (names, paths, values), and what is left to do. Answer ' +
  'with the summary alone; call no tools.'

const sealSummary = (text: string): string => STAMP + Buffer.from(text).toString('base64url')

/** The summary in an item that the gateway made. Undefined for a vendor's own item, which nobody else can read. */
function summaryIn({ encrypted_content: sealed }: Fields): string | undefined {
  const text = textIn(sealed)
  return text?.startsWith(STAMP) ? Buffer.from(text.slice(STAMP.length), 'base64url').toString() : undefined
}

export function compactionIn(item: Fields): Message | undefined {
  const summary = summaryIn(item)
  if (summary === undefined) return undefined
  return { role: 'user', parts: [{ kind: 'text', text: `What was said before, in short:\n\n${summary}` }] }
}

/** The text of an answer that is the summary. */
export const summaryOf = (parts: readonly OutputPart[]): string =>
  parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')

/** Turns the deltas of a summary into an answer of one item. Clients do not show such an item. */
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
      // A model cannot continue from an empty summary. A client keeps its history if no such item comes.
      if (this.text.trim() === '') return [delta]
      const fields = { id: this.id, type: 'compaction', encrypted_content: sealSummary(this.text) }
      return [{ kind: 'own', choice: delta.choice, origin: 'responses', what: 'item', fields }, delta]
    })
  }
}
