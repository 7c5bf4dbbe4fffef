/**
 * The part of a vendor's message that may be kept. A message may quote the request, the answer or the credential. A
 * word that the request has, too, is left out, unless it is common in such messages. A longer run that stands in the
 * request as it stands in the message is left out in any case.
 */
import type { KeptSecrets } from '../domain/catalog.ts'
import { seenFailures } from './failure-meaning.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

const MESSAGE_CHARS_MAX = limit('vendorMessageCharsMax', 300, 'A longer message of a vendor is shortened.')
/** Longer texts are not searched: a failure must not delay other requests of the thread. */
export const PRIVATE_CHARS_MAX = MIB
/**
 * In longer texts only single words are searched for, and no message. A message is up to 300 searches, and each of them
 * can read the whole text.
 */
const SEARCHED_CHARS_MAX = 256 * KIB
const LEFT_OUT = '…'

/** Shorter words reveal nothing alone. */
const WORD_CHARS_MIN = 4
/** A part of a word of this length reveals the word. */
const PART_CHARS = 8
/** A run of ordinary words of this length is a quotation. */
const RUN_CHARS = 24
/** A longer word is an id, or something encoded. */
const WORD_CHARS_MAX = 40

/** Words of vendors' messages, and names of fields of their APIs. */
const COMMON = `
  able about above access account accept accepted action active actual after again against allow allowed also always another
  answer apply argument arguments array assistant attempt authentication authorization available backend balance because been
  before being below between billing body both boolean budget bytes call called calls cannot capacity change changed character
  characters check choice choices choose client close closed code column combination complete completed completion completions
  concurrency concurrent condition config configured connect connection contact contain contains content contents context
  continue correct could count create created credential credentials credits currently custom data deadline deadlines default
  degraded delete denied deployment deprecated detail details developer device different digits dimensions disabled does
  down download due during duration each edit effort either element email empty enable enabled encoding engine ensure entity
  error errors event every exceed exceeded exceeds exception exhausted exist existing exists expected expired external fail
  failed failure false feature fetch field fields file files filter filtered finish first following forbidden format found free
  frequency from full function functions gateway generate generated generation given greater handle hard have header headers
  help here high host hour hours http https image images inactive include included incorrect index inference input inside
  instance instead instructions insufficient integer internal invalid issue item items json just kernel key keys kind language
  large last later layer least length less level like limit limited limits line link list load local location longer lower made
  maintenance make malformed many match matching max maximum media memory message messages metadata method million minimum
  minute minutes missing mode model models moderation modify month more most multiple must name named names need needs network
  never next none not null number object occurred offline often once one only operation option options order organization other
  output over overloaded page parallel parameter parameters parse parsing part parts pass path payload payment penalty per
  permission permissions please point policy pool port position possible preview price prior problem process processing project
  prompt property properties provide provided provider proxy queue quota range rate reach reached read reason reasoning received
  recent recharge reduce refer refused region reject rejected remove replica request requested requests require required
  requires resource response responses result retry return returned role route rule running safety same schema scheduled
  second seconds section security seed send sent server servers service session setting settings shard should shutting size slow
  small some source space specified speed start started state status still stop stream streaming string strings structure such
  suffix support supported supports suspended system take task temperature temporarily temporary text than that their them then
  there these they thinking this those thread through tier time timed timeout times token tokens tool tools total traffic true
  type types unable unauthorized unavailable unexpected unhealthy unknown unprocessable unsupported until upgrade upload
  upstream usage used user using valid validation value values version violation wait want wanted warning were what when where
  which while will with within without worker would write wrong year your
`

const messagesOf = (body: unknown): string[] =>
  typeof body === 'object' && body !== null
    ? Object.entries(body).flatMap(([name, value]) =>
        typeof value === 'string' && /^(?:message|error|status_msg)$/.test(name) ? [value] : messagesOf(value),
      )
    : []

const PIECE = /\p{Script=Han}+|[\p{L}\p{N}]+/gu
const words = (text: string): string[] => text.toLowerCase().match(PIECE) ?? []

const publicMessages = seenFailures.flatMap(({ body }) => messagesOf(body)).join('\n')
/** Words without numbers: a number in one message is not common to all. */
const ordinary = new Set([...words(COMMON), ...words(publicMessages)].filter((word) => !/\p{N}/u.test(word)))

/** Texts of which nothing may be kept: the request, and what was generated. */
export class PrivateTexts {
  /** Whether a message can be searched for in them, part by part. */
  readonly isShort: boolean
  private readonly texts: readonly Buffer[] | undefined

  /** Undefined: the texts are too long to gather. */
  constructor(texts: readonly string[] | undefined) {
    const chars = texts?.reduce((sum, { length }) => sum + length, 0) ?? Number.POSITIVE_INFINITY
    this.isShort = chars <= SEARCHED_CHARS_MAX
    this.texts =
      chars > PRIVATE_CHARS_MAX ? undefined : texts?.map((text) => Buffer.from(unescaped(text).toLowerCase()))
  }

  /** Whether a code or an id is in them. If they are not searched, every word that is not ordinary counts as one. */
  isWord(word: string): boolean {
    if (this.texts) return this.has(word)
    return words(word.replaceAll(/[_.-]/g, ' ')).some((part) => part.length >= WORD_CHARS_MIN && !ordinary.has(part))
  }

  /** Whether a part is in one of them. If they are not searched, every part counts as one. */
  has(part: string): boolean {
    const bytes = Buffer.from(part.toLowerCase())
    return this.texts?.some((text) => text.includes(bytes)) ?? true
  }

  /** Whether they are searched at all. */
  get isKnown(): boolean {
    return this.texts !== undefined
  }
}

const UNKNOWN = new PrivateTexts(undefined)

/** JSON text may have any character as `\uXXXX`. */
const unescaped = (text: string): string =>
  text.includes('\\u')
    ? text.replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : text

export type KeptWordsOptions = {
  readonly texts: PrivateTexts
  readonly secret: KeptSecrets
  /** Names that the operator knows: of the model, here and at the vendor. */
  readonly known: readonly string[]
}

/** The message without words that are not the vendor's own. Undefined: nothing is left. */
export function keptWords(message: string, { texts: all, secret, known }: KeptWordsOptions): string | undefined {
  const texts = all.isShort ? all : UNKNOWN
  const text = message
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MESSAGE_CHARS_MAX)
    .toWellFormed()
  const hidden = new Uint8Array(text.length)
  const hide = (from: number, to: number): void => void hidden.fill(1, from, to)
  for (const one of typeof secret === 'string' ? [secret] : (secret ?? []))
    for (const [from, to] of partsOfSecret(text, one)) hide(from, to)
  const named = new Set(known.flatMap(words))
  for (const { 0: word, index } of text.matchAll(PIECE)) {
    if (/\p{Script=Han}/u.test(word)) hideIdeographs(word, index, { texts, hide })
    else if (isPrivate(word.toLowerCase(), { texts, named })) hide(index, index + word.length)
  }
  if (texts.isKnown) {
    for (let i = 0; i + RUN_CHARS <= text.length; i++)
      if (texts.has(text.slice(i, i + RUN_CHARS))) hide(i, i + RUN_CHARS)
  }
  return written(text, hidden)
}

function isPrivate(word: string, { texts, named }: { texts: PrivateTexts; named: ReadonlySet<string> }): boolean {
  if (word.length > WORD_CHARS_MAX) return true
  if (word.length < WORD_CHARS_MIN || ordinary.has(word) || named.has(word)) return false
  if (texts.has(word)) return true
  for (let i = 0; i + PART_CHARS < word.length; i++) if (texts.has(word.slice(i, i + PART_CHARS))) return true
  return texts.has(word.slice(-PART_CHARS))
}

/** A name may have two characters. A pair is left out if the request has it and no public message does. */
function hideIdeographs(
  run: string,
  at: number,
  { texts, hide }: { readonly texts: PrivateTexts; readonly hide: (from: number, to: number) => void },
): void {
  for (let i = 0; i + 2 <= run.length; i++) {
    const pair = run.slice(i, i + 2)
    if (!publicMessages.includes(pair) && texts.has(pair)) hide(at + i, at + i + 2)
  }
}

/** Where a part of the credential stands in a text. */
function* partsOfSecret(text: string, secret: string): Generator<readonly [from: number, to: number]> {
  // A shorter credential would match parts of ordinary words.
  if (secret.length < PART_CHARS) return
  for (let i = 0; i + PART_CHARS <= text.length; i++)
    if (secret.includes(text.slice(i, i + PART_CHARS))) yield [i, i + PART_CHARS]
}

function written(text: string, hidden: Uint8Array): string | undefined {
  let kept = ''
  for (let i = 0; i < text.length; i++) {
    if (!hidden[i]) kept += text[i]
    else if (!kept.endsWith(LEFT_OUT)) kept += LEFT_OUT
  }
  const shown = kept.replaceAll(/…(?:[\s\p{P}\p{S}]*…)+/gu, LEFT_OUT)
  return /[\p{L}\p{N}]/u.test(shown) ? shown : undefined
}
