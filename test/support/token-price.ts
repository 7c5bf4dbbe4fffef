/** The price of a chat, counted independently of the gateway's metering: its own tokenizer call, plain numbers. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** Dollars a million tokens; as declared in the tests' models. */
export const PRICE_INPUT = 3
export const PRICE_OUTPUT = 7

export type Tokens = { readonly prompt: number; readonly completion: number }

/** Nano-dollars: a dollar a million is a thousand nano-dollars each. */
export const costOf = ({ prompt, completion }: Tokens): number =>
  prompt * PRICE_INPUT * 1_000 + completion * PRICE_OUTPUT * 1_000

const known = new Map<string, number>()

/** Tokens of a text of no more than 512 characters, which the gateway counts in one piece. */
export function tokensOf(text: string): number {
  if (text.length > 512) throw new RangeError('too long to be counted in one piece')
  let count = known.get(text)
  if (count === undefined) {
    count = countTokens(text)
    if (known.size < 10_000) known.set(text, count)
  }
  return count
}

/** A prompt of one message: its words, and four tokens for its frame. */
export const promptTokens = (content: string): number => tokensOf(content) + 4
