import type { NonEmpty } from './random.ts'

/** Words of at most five letters. Each is one token, so a text of n words has exactly n tokens. */
export const SHORT_WORDS: NonEmpty<string> = [
  'river',
  'stone',
  'light',
  'cloud',
  'paper',
  'quiet',
  'green',
  'house',
  'train',
  'music',
  'apple',
  'table',
  'north',
  'ocean',
  'field',
  'glass',
  'story',
  'round',
  'early',
  'sharp',
  'plain',
  'amber',
  'coral',
  'maple',
  'linen',
  'cedar',
  'flint',
  'grove',
  'haven',
  'ivory',
  'jolly',
  'knoll',
  'lunar',
  'mango',
  'noble',
  'olive',
  'pearl',
  'quilt',
  'ridge',
  'solar',
  'tulip',
  'umber',
  'vivid',
  'wheat',
  'young',
  'zesty',
  'brook',
  'crisp',
  'dusty',
  'eagle',
]

/** Words that say nothing about the subject of a message. */
const FILLER_WORDS = new Set(
  `a about all also am an and any are as at be been both but by call can could did do does for from get give had has
  have hello help her here hi him his how i if in into is it its just know like let make many may me more much my need
  not now of on one or our out please say should show so some tell than thank thanks that the their them then there
  these they this those to two up us use used using very want was we well were what when where which who why will with
  would write you your`.split(/\s+/),
)

/** The words of a text about its subject, in order and as written. */
export function tellingWords(text: string): string[] {
  const words = text.match(/\p{L}[\p{L}\p{N}'-]*/gu) ?? []
  return words.filter((word) => word.length >= 3 && !FILLER_WORDS.has(word.toLowerCase()))
}

/** Names by their capitals, such as `New York` or `Ada`. Possible first words of sentences come last. */
export function namesIn(text: string): string[] {
  const certain: string[] = []
  const doubtful: string[] = []
  for (const { 0: run, index } of text.matchAll(/\p{Lu}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*)*/gu)) {
    const name = dropFillers(run)
    const isSentenceStart = name === run && '.!?:'.includes(text.slice(0, index).trimEnd().at(-1) ?? '')
    const list = isSentenceStart ? doubtful : certain
    if (name.length > 1) list.push(name)
  }
  return [...certain, ...doubtful]
}

function dropFillers(run: string): string {
  const words = run.split(' ')
  while (words[0] !== undefined && FILLER_WORDS.has(words[0].toLowerCase())) words.shift()
  return words.join(' ')
}
