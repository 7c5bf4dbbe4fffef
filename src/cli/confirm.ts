import { failed, usage, type CommandOutcome } from './outcome.ts'
import type { Terminal } from './terminal.ts'

/** What is about to be destroyed, and the word that says that it is meant. */
export type Confirmation = { readonly consequence: string; readonly word: string }

/** Has the word typed. Undefined: it was; otherwise why nothing is done. */
export async function askFirst(
  terminal: Terminal,
  { consequence, word }: Confirmation,
): Promise<CommandOutcome | undefined> {
  if (!terminal.interactive) return usage(`${consequence} There is nobody to ask: add --yes if it is meant.`)
  const typed = await terminal.ask(`${consequence}\nType ${word} to go on: `)
  return typed?.trim() === word ? undefined : failed('not_confirmed', 'not confirmed; nothing was changed')
}
