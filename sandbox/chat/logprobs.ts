import { hashOf, randomFrom } from '../random.ts'
import { SHORT_WORDS } from '../words.ts'

/** The cost of one probability in an answer's budget, in characters. */
export const LOGPROB_CHARS = 64

/** A plausible and repeatable probability. The certainty of tokens varies, and alternatives are less likely. */
export function logprobOf(token: string, { seed, top }: { seed: number; top: number }): object {
  const random = randomFrom(hashOf(token, seed))
  let logprob = -0.5 * random.next() ** 2
  const own = entryOf(token, logprob)
  const alternatives = top > 0 ? [own] : []
  const start = random.below(SHORT_WORDS.length)
  while (alternatives.length < top) {
    logprob -= 0.5 + random.next()
    const word = SHORT_WORDS[(start + alternatives.length) % SHORT_WORDS.length] ?? 'river'
    alternatives.push(entryOf(` ${word}`, logprob))
  }
  return { ...own, top_logprobs: alternatives }
}

function entryOf(token: string, logprob: number): object {
  return { token, logprob, bytes: [...Buffer.from(token)] }
}
