/**
 * Replies that are large for the probabilities in them: twenty for each of 30,000 tokens are four million values, and
 * nothing of them is looked at here. Without them a reply is as small as any other.
 */
import { largeAnswerLimits, scanJson } from '../../lib/json/json-scan.ts'
import { asFields, asList, type Fields } from './fields.ts'

/** The reply without its probabilities, and where the members of the one that came stand in its text. */
export type ReplyWithoutLogprobs = { readonly text: string; readonly places: readonly number[] }

/** Undefined for what is no JSON object, or out of all proportion. */
export function lightOf(text: string): ReplyWithoutLogprobs | undefined {
  const scan = scanJson(text, largeAnswerLimits)
  if (scan.kind !== 'scanned') return undefined
  try {
    const reply = asFields(JSON.parse(text))
    const kept = {
      choices: without('logprobs', reply['choices']),
      candidates: without('logprobsResult', reply['candidates']),
    }
    return { text: JSON.stringify({ ...reply, ...kept }), places: scan.members.places }
  } catch {
    return undefined // Whoever asked says what that means.
  }
}

const without = (name: string, list: unknown): readonly Fields[] | undefined =>
  Array.isArray(list) ? asList(list).map((one) => ({ ...asFields(one), [name]: undefined })) : undefined
