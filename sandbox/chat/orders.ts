/** Plain orders to say a text word for word, or a bare value. Test suites for vendors consist of such orders. */
import { openingOf } from './conversation.ts'
import type { ChatMessage } from './request.ts'

export type Order =
  | { kind: 'literal'; text: string }
  /** A bare value that was stated earlier or returned by a tool: `number`, `word`, `result` … */
  | { kind: 'value'; what: string }

const SAY = String.raw`\b(?:reply|respond|answer|say|output|return|write|print|echo)\b(?: back| to (?:me|this))?`
const HOW = '(?: with| only| just| by saying)*'
const NOUN =
  '(?: the)?(?: following| single| exact| one)*(?: (?:words?|texts?|phrase|string|token|line|message|sentence))?'
/** `Reply with exactly PONG` · `Answer with exactly the word "yes".` */
const EXACTLY = new RegExp(`${SAY}${HOW} exactly${NOUN}(:?) ?(.{1,1000})`, 'i')
/** `Say OK and nothing else` */
const NOTHING_ELSE = new RegExp(
  `${SAY}${HOW}${NOUN}(:?) (.{1,1000}?),? (?:and )?(?:nothing (?:else|more)|no other (?:text|words?))`,
  'i',
)
/** `Reply OK` · `answer with "pong"`: a text in quotes or in capitals. */
const QUOTED = new RegExp(`${SAY}${HOW}${NOUN}(:?) (["“'\`].{1,500})`, 'i')
const CAPITALS = /\b(?:[Rr]eply|[Rr]espond|[Aa]nswer|[Ss]ay)(?: with| only| just)*:? ([A-Z][A-Z0-9_-]{1,40})\b(?! or\b)/
const NO_WORDS = new Set(['JSON', 'XML', 'HTML', 'YAML', 'CSV', 'SQL', 'URL', 'ONLY', 'NOT', 'AND', 'IN'])
/** A description of a text is not the text to say. */
const DESCRIBED =
  /^(?:(?:valid )?json|xml|html|yaml|code|markdown|an?|the|this|that|these|those|what|your|my|each|in|as|how|one|two|three|four|five|six|\d+) /i
const DESCRIBED_AS = /^[\w ]{1,40}: ?(?=\S)/

const VALUE =
  /\b(?:reply|respond|answer|repeat|return|output|say|give|print|state)\b[^.!?\n]{0,40}?\b(?:just|only|nothing but|exactly)\b(?: with)? (?:the|its|that|my) (?:\w{1,20} ){0,2}?(number|digits?|result|output|value|answer|code|word|name|sum|total|count|city|date)\b/i

/** The order in a message. Undefined if there is none. */
export function orderOf(text: string): Order | undefined {
  for (const line of openingOf(text).split('\n')) {
    const order = orderIn(line.replace(/\s+/g, ' ').trim())
    if (order) return order
  }
  return undefined
}

function orderIn(line: string): Order | undefined {
  const found = EXACTLY.exec(line) ?? NOTHING_ELSE.exec(line) ?? QUOTED.exec(line)
  const literal = found ? literalOf(found[2] ?? '', found[1] === ':') : undefined
  if (literal !== undefined) return { kind: 'literal', text: literal }
  const value = VALUE.exec(line)?.[1]
  if (value !== undefined) return { kind: 'value', what: value.toLowerCase() }
  const capitals = CAPITALS.exec(line)?.[1]
  return capitals === undefined || NO_WORDS.has(capitals) ? undefined : { kind: 'literal', text: capitals }
}

/** The text to say. After a colon it may begin with any word. */
function literalOf(said: string, isBehindColon: boolean): string | undefined {
  const quoted = /^(?:"([^"]+)"|“([^”]+)”|'([^']+)'|`([^`]+)`)/.exec(said)
  if (quoted) return quoted.slice(1).find((group) => group !== undefined)
  const text = said
    .replace(/,? (?:and )?(?:nothing (?:else|more)|no other (?:text|words?)).*$/i, '')
    .replace(/\.(?: .*)?$/, '')
    .replace(/([!?]) .*$/, '$1')
    .replace(/ only$/i, '')
    .trim()
  if (isBehindColon || !DESCRIBED.test(`${text} `)) return text === '' ? undefined : text
  const rest = text.replace(DESCRIBED_AS, '')
  return rest === text || rest === '' ? undefined : literalOf(rest, true)
}

/** Longer system prompts are those of agents. They describe many answers and are no orders. */
const SYSTEM_CHARS_MAX = 1_000

/** The text that the system prompt orders for every message. */
export function standingOrder(
  messages: readonly ChatMessage[],
  textOf: (message: ChatMessage) => string,
): string | undefined {
  for (const message of messages.toReversed()) {
    if (message.role !== 'system' && message.role !== 'developer') continue
    const text = textOf(message)
    const order = text.length > SYSTEM_CHARS_MAX ? undefined : orderOf(text)
    if (order?.kind === 'literal') return order.text
  }
  return undefined
}

/** Whether a system prompt asks for a bare JSON object, as clients of dialects without a field for it do. */
export const wantsJson = (messages: readonly ChatMessage[], textOf: (message: ChatMessage) => string): boolean =>
  messages.some(
    (message) =>
      (message.role === 'system' || message.role === 'developer') &&
      /\b(?:one|single|valid) JSON object\b|\bJSON (?:only|alone)\b|\bonly (?:valid )?JSON\b/i.test(
        textOf(message).slice(-4_000),
      ),
  )

const NUMERIC = new Set(['number', 'digit', 'digits', 'sum', 'total', 'count'])
const NUMBER = /-?\d[\d,]*(?:\.\d+)?/
const NUMBER_WORD = /\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/i

/** The bare value in a text or a tool result. */
export function valueIn(text: string, what: string): string | undefined {
  const only = onlyField(text)
  if (!NUMERIC.has(what)) return only ?? (text.trim() === '' ? undefined : text.trim())
  return NUMBER.exec(only ?? text)?.[0] ?? NUMBER_WORD.exec(text)?.[0]
}

/** `{"result":42}` is 42. */
function onlyField(text: string): string | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const values: unknown[] = Object.values(JSON.parse(text) as object)
    if (values.length !== 1) return undefined
    return typeof values[0] === 'string' ? values[0] : JSON.stringify(values[0])
  } catch {
    return undefined // The text only looks like JSON.
  }
}
