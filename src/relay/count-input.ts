import type { Model } from '../domain/catalog.ts'
import type { ClientRequest } from '../formats/format.ts'
import type { Relay } from './context.ts'

/** What a chat template adds to each message, by the vendors' own cookbooks. */
const MESSAGE_TOKENS = 4

/** What the input counts beside its words. */
export const tokensBesideText = ({ imageParts, messages }: ClientRequest, { limits }: Model): number =>
  messages * MESSAGE_TOKENS + imageParts * limits.imageTokensMax

/** A fifth of a second of the tokenizer, of which there is one: a count that is free must not hold up a bill. */
const COUNTED_CHARS_MAX = 1_000_000
const CHARS_PER_TOKEN = 4

/** Counts a request's input as an estimate would be charged: by our own tokenizer, whatever the model's is. */
export async function countInput({ tokens }: Relay, request: ClientRequest, model: Model): Promise<number> {
  const text = request.promptText()
  const rest = Math.ceil(Math.max(text.length - COUNTED_CHARS_MAX, 0) / CHARS_PER_TOKEN)
  const [words = 0] = await tokens.count([text.slice(0, COUNTED_CHARS_MAX)])
  return words + rest + tokensBesideText(request, model)
}
