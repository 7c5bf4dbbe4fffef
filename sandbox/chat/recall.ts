import { openingOf, textOf } from './conversation.ts'
import { valueIn, type Order } from './orders.ts'
import type { ChatMessage } from './request.ts'

/** Questions about facts that the user may have stated: `what is my dog`, `what was the launch code`. */
const SUBJECT = /\bwhat(?:'s|’s| is| was)\s+(my|the)\s+([\p{L} ]+?)\s*(?:[?.!]|$)/iu

/** Answers questions about earlier turns, to show that the history has arrived. */
export function recalled(messages: readonly ChatMessage[], order?: Order): string | undefined {
  const said = messages.filter((message) => message.role === 'user').map((one) => openingOf(textOf(one)))
  // On a run of blanks, the search would try every split.
  const question = (said.at(-1) ?? '').replace(/\s+/g, ' ')
  const earlier = said.slice(0, -1)
  const [, whose = 'my', subject] = SUBJECT.exec(question) ?? []
  if (subject !== undefined || /\bwho am i\b/i.test(question)) {
    return told(whose.toLowerCase(), subject ?? 'name', { earlier, order, messages })
  }
  if (!/\bwhat did i (?:just )?(?:say|ask|write|tell)/i.test(question)) return undefined
  const isFirst = /\b(?:first|beginning|start)\b/i.test(question)
  const quoted = isFirst ? earlier[0] : earlier.at(-1)
  if (quoted === undefined) return 'This is the first thing you have said in this conversation.'
  return `${isFirst ? 'The first thing you said was' : 'Before that you said'}: "${quoted}"`
}

type History = { earlier: readonly string[]; order: Order | undefined; messages: readonly ChatMessage[] }

function told(whose: string, subject: string, { earlier, order, messages }: History): string | undefined {
  const name = subject.toLowerCase()
  const standing = messages.flatMap((one) => (one.role === 'system' ? [openingOf(textOf(one))] : []))
  const value = valueOf(name, [...standing, ...earlier])
  if (value === undefined) return whose === 'my' ? `You have not told me your ${name}.` : undefined
  if (order?.kind === 'value') return valueIn(value, order.what) ?? value
  return `${whose === 'my' ? 'Your' : 'The'} ${name} is ${value}.`
}

/** `my name is Ada` · `code = 123` */
function valueOf(name: string, said: readonly string[]): string | undefined {
  const phrases = [
    new RegExp(`\\b(?:my|the) ${name} is ([^.,;!?\\n]+)`, 'iu'),
    new RegExp(`\\b${name} ?(?:=|:) ?([^\\s,;!?]+)`, 'iu'),
  ]
  if (name === 'name') phrases.push(/\b(?:call me|i am called|i'm called) ([^.,;!?\n]+)/iu)
  for (const text of said.toReversed()) {
    for (const phrase of phrases) {
      const value = phrase.exec(text)?.[1]?.trim().replace(/[.]$/, '')
      if (value !== undefined && value !== '') return value
    }
  }
  return undefined
}

/** The requested bare value in the messages before the question, such as a tool result. */
export function valueBefore(messages: readonly ChatMessage[], what: string): string | undefined {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  for (const message of messages.slice(0, asked).toReversed()) {
    const value = message.role === 'system' ? undefined : valueIn(openingOf(textOf(message)), what)
    if (value !== undefined) return value
  }
  return undefined
}
