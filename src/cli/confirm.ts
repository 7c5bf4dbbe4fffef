import { failed, usage, type CommandOutcome } from './outcome.ts'
import type { Terminal } from './terminal.ts'

/** What is about to be destroyed, and the word that confirms it. */
export type Confirmation = { readonly consequence: string; readonly word: string }

/** Asks the user to type the word. Returns undefined if the user does, else the reason why nothing is done. */
export async function askFirst(
  terminal: Terminal,
  { consequence, word }: Confirmation,
): Promise<CommandOutcome | undefined> {
  if (!terminal.interactive) return usage(`${consequence} There is no terminal to ask on: add --yes to confirm.`)
  const typed = await terminal.ask(`${consequence}\nType ${word} to go on: `)
  return typed?.trim() === word ? undefined : failed('not_confirmed', 'not confirmed; nothing was changed')
}
