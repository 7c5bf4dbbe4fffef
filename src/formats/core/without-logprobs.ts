/**
 * Replies that log probabilities make large: twenty for each of 30,000 tokens are four million values. Nothing here
 * reads them. Without them a reply is as small as any other.
 */
import { largeAnswerLimits, scanJson } from '../../lib/json/json-scan.ts'
import { asFields, asList, type Fields } from './fields.ts'

/** The reply without log probabilities, and the places of the original's members in its text. */
export type ReplyWithoutLogprobs = { readonly text: string; readonly places: readonly number[] }

/** Undefined for text that is no JSON object or is too large. */
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
    return undefined // The caller decides what that means.
  }
}

const without = (name: string, list: unknown): readonly Fields[] | undefined =>
  Array.isArray(list) ? asList(list).map((one) => ({ ...asFields(one), [name]: undefined })) : undefined
