import { openingOf, textOf } from './conversation.ts'
import type { Message } from './request.ts'

/** Answers questions about what was said in earlier turns, to show that the history arrived. */
export function recalled(messages: readonly Message[]): string | undefined {
  const said = messages.filter((message) => message.role === 'user').map((one) => openingOf(textOf(one)))
  // Of a run of blanks the search would try every division.
  const question = (said.at(-1) ?? '').replace(/\s+/g, ' ')
  const earlier = said.slice(0, -1)
  const subject = /\bwhat(?:'s|’s| is| was)\s+my\s+([\p{L} ]+?)\s*(?:\?|$)/iu.exec(question)?.[1]
  if (subject !== undefined || /\bwho am i\b/i.test(question)) return aboutUser(subject ?? 'name', earlier)
  if (!/\bwhat did i (?:just )?(?:say|ask|write|tell)/i.test(question)) return undefined
  const isFirst = /\b(?:first|beginning|start)\b/i.test(question)
  const quoted = isFirst ? earlier[0] : earlier.at(-1)
  if (quoted === undefined) return 'This is the first thing you have said in this conversation.'
  return `${isFirst ? 'The first thing you said was' : 'Before that you said'}: "${quoted}"`
}

function aboutUser(subject: string, said: readonly string[]): string {
  const name = subject.toLowerCase()
  const phrases = [new RegExp(`\\bmy ${name} is ([^.,;!?\\n]+)`, 'iu')]
  if (name === 'name') phrases.push(/\b(?:call me|i am called|i'm called) ([^.,;!?\n]+)/iu)
  for (const text of said.toReversed()) {
    for (const phrase of phrases) {
      const value = phrase.exec(text)?.[1]?.trim()
      if (value !== undefined && value !== '') return `Your ${name} is ${value}.`
    }
  }
  return `You have not told me your ${name}.`
}
