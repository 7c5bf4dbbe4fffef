import type { Budget } from '../budget.ts'
import { exampleJson } from '../example/example.ts'
import { randomFrom } from '../random.ts'
import { tokenize } from '../tokens.ts'
import type { Attachment, ToolResult } from './conversation.ts'
import { resultIn } from './arithmetic.ts'
import { valueIn } from './orders.ts'
import type { Prompt } from './prompt.ts'
import { wishedText } from './steer.ts'

const QUOTE_TOKENS_MAX = 14
const RESULT_CHARS_MAX = 2_000

/** 6 × 5 × 5 combinations, so that all of the 128 choices of one request can differ. */
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

type AnswerBudget = { seed: number; charsMax: number; budget: Budget }

/** The text of an answer without tool calls. A text longer than `charsMax` is cut. */
export function answerText(prompt: Prompt, making: AnswerBudget): string {
  const { wish, ordered, value, recalled, standing, results, opening, attachments } = prompt
  const { seed, charsMax } = making
  const structured = structuredText(prompt, making)
  if (structured !== undefined) return structured
  if (ordered !== undefined && wish?.kind !== 'exactly') return ordered
  if (results.length > 0) return bareResult(prompt) ?? resultsText(results, charsMax)
  if (wish) return wishedText(wish, { seed, charsMax })
  return recalled ?? sumText(prompt) ?? value ?? standing ?? prompt.echo ?? smallTalk(opening, attachments, seed)
}

function structuredText(
  { request, echo, hints }: Prompt,
  { seed, charsMax, budget }: AnswerBudget,
): string | undefined {
  const format = request.response_format
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return echo
  const schema = format.json_schema.schema ?? { type: 'object' }
  const text = exampleJson(schema, { ...hints, random: randomFrom(seed) }, { budget, charsMax })
  // The caller spends the characters that it keeps.
  budget.returnChars(text.length)
  return text
}

/** The answer to a question about numbers. */
function sumText({ order, opening }: Prompt): string | undefined {
  const { asked, result } = resultIn(opening) ?? {}
  if (asked === undefined) return undefined
  return order?.kind === 'value' ? String(result) : `${asked} = ${result}`
}

/** The bare value of the only result, if the message asks for it. */
function bareResult({ order, results }: Prompt): string | undefined {
  const [only] = results
  return order?.kind === 'value' && only && results.length === 1 ? valueIn(only.text, order.what) : undefined
}

function resultsText(results: readonly ToolResult[], charsMax: number): string {
  const lines: string[] = []
  let chars = 0
  for (const { name, text } of results) {
    const line = `According to ${name}: ${text.slice(0, RESULT_CHARS_MAX)}`
    lines.push(line)
    chars += line.length + 1
    if (chars > charsMax + 1) break
  }
  return lines.join('\n')
}

/** 30 to 80 tokens about the message, enough to watch it stream. Seeds that differ by 1 to 127 give different texts. */
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

const LISTED_MAX = 100

/** `2 images (image/png, image/jpeg) and 1 file (plan.pdf)` */
function listOf(attachments: readonly Attachment[]): string {
  const kinds = Map.groupBy(attachments, ({ kind }) => kind)
  const groups = [...kinds].map(([kind, some]) => {
    const noun = kind === 'audio' ? 'audio clip' : kind
    return `${some.length} ${noun}${some.length === 1 ? '' : 's'} (${some
      .slice(0, LISTED_MAX)
      .map(({ type }) => type)
      .join(', ')})`
  })
  return groups.join(' and ')
}
