import { exampleOf } from '../example/example.ts'
import { hintsFrom } from '../example/hints.ts'
import { countTokens, tokenize } from '../tokens.ts'
import { tellingWords } from '../words.ts'
import { attachmentsOf, lastUserMessage, openingOf, openToolResults, textOf, type Attachment } from './conversation.ts'
import { recalled } from './recall.ts'
import type { ChatRequest } from './request.ts'
import { steeredText } from './steer.ts'

const QUOTE_TOKENS_MAX = 14
const RESULT_CHARS_MAX = 2_000

/** 6 × 5 × 5 combinations: no two of the 128 choices a request may ask for need to be the same. */
const OPENINGS = [
  'You wrote',
  'You said',
  'Your message reads',
  'I received',
  'What reached me is',
  'Here is what I was sent:',
]
const REMARKS = [
  'No large model thought about it: this is the sandbox, and its answers follow from your words alone.',
  'This answer comes from the built-in sandbox, so the same question will always be answered the same way.',
  'The sandbox took it apart word by word, counted every token, and is now reading the result back to you.',
  'Nothing left this machine: the sandbox answered by itself, yet in the very shape a real vendor would use.',
  'It was counted and is being charged like any other request, although only the sandbox has read it.',
]
const CLOSINGS = [
  'Add a vendor key, and the same request will be answered for real.',
  'Ask for "write 500 tokens", offer a tool or stream it, to see more.',
  'Your client, your key and the gateway between us evidently work.',
  'Send it again with another model whenever you are ready.',
  'Everything between your client and a vendor is in place.',
]

/** What the model says when it calls no tool. */
export function answerText(request: ChatRequest, seed: number): string {
  const message = lastUserMessage(request.messages)
  const text = message ? textOf(message) : ''
  const structured = structuredText(request, { text, seed })
  if (structured !== undefined) return structured
  const results = openToolResults(request.messages)
  if (results.length > 0) {
    return results
      .map(({ name, text: result }) => `According to ${name}: ${result.slice(0, RESULT_CHARS_MAX)}`)
      .join('\n')
  }
  return (
    steeredText(text, seed) ?? recalled(request.messages) ?? smallTalk(openingOf(text), attachmentsOf(message), seed)
  )
}

function structuredText(request: ChatRequest, { text, seed }: { text: string; seed: number }): string | undefined {
  const format = request.response_format
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') {
    return JSON.stringify({ reply: text, about: tellingWords(text).slice(0, 5), tokens: countTokens(text) })
  }
  return JSON.stringify(exampleOf(format.json_schema.schema ?? { type: 'object' }, hintsFrom(text, seed)))
}

/** 30 to 80 tokens about the message itself: enough to watch it stream. Seeds that differ by 1 to 127 differ here. */
function smallTalk(text: string, attachments: readonly Attachment[], seed: number): string {
  const opening = OPENINGS[seed % OPENINGS.length]
  const remark = REMARKS[Math.floor(seed / OPENINGS.length) % REMARKS.length]
  const closing = CLOSINGS[Math.floor(seed / OPENINGS.length / REMARKS.length) % CLOSINGS.length]
  const seen = attachments.length > 0 ? `I can see ${listOf(attachments)}. ` : ''
  const tokens = tokenize(text.replace(/\s+/g, ' ').trim())
  const quote = tokens.slice(0, QUOTE_TOKENS_MAX).join('') + (tokens.length > QUOTE_TOKENS_MAX ? '…' : '')
  const said = quote === '' ? 'You sent no words.' : `${opening} "${quote}".`
  return `${seen}${said} ${remark} ${closing}`
}

/** `2 images (image/png, image/jpeg) and 1 file (plan.pdf)` */
function listOf(attachments: readonly Attachment[]): string {
  const kinds = Map.groupBy(attachments, ({ kind }) => kind)
  const groups = [...kinds].map(([kind, some]) => {
    const noun = kind === 'audio' ? 'audio clip' : kind
    return `${some.length} ${noun}${some.length === 1 ? '' : 's'} (${some.map(({ type }) => type).join(', ')})`
  })
  return groups.join(' and ')
}
